package mail

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"recrawl/internal/sink"
)

// codeOf returns the code of a server's answer, 0 if there is none.
func codeOf(err error) int {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return answer.Code
	}
	return 0
}

func isLater(code int) bool   { return code/100 == 4 }
func isRefusal(code int) bool { return code/100 == 5 }

// words returns a server's answer in one line that is fit to be stored and shown.
func words(err error) string { return clean(answerOf(err), 300) }

// answerOf returns the answer as it came; an error's text may quote it.
func answerOf(err error) string {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return fmt.Sprintf("%d %s", answer.Code, answer.Msg)
	}
	return err.Error()
}

// unanswered makes the error for a failure before a message: the server is not there, or
// does not work. It is tried again, whatever the answer, since only a person at the server
// can mend it.
func unanswered(address string, err error) error {
	if code := codeOf(err); isLater(code) {
		return &sink.Later{Reason: fmt.Sprintf("mail server %s: %s", address, words(err))}
	} else if code != 0 {
		return fmt.Errorf("mail server %s: %s", address, words(err))
	}
	return fmt.Errorf("mail server %s: %w", address, err)
}

// ofLogin judges the answer to a login. Its words never contain the password, even if the
// server repeats it.
func ofLogin(s Server, password string, err error) error {
	if err == nil {
		return nil
	}
	text := answerOf(err)
	for _, secret := range []string{
		password, base64.StdEncoding.EncodeToString([]byte(password)),
		base64.StdEncoding.EncodeToString([]byte("\x00" + s.User + "\x00" + password)),
	} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	reason := fmt.Sprintf("mail server %s: login as %s: %s", s.Host, clean(s.User, 100), clean(text, 300))
	switch code := codeOf(err); {
	case isLater(code):
		return &sink.Later{Reason: reason}
	case isRefusal(code):
		return &sink.Stop{Code: CodeLoginRefused, Reason: reason + ": check RECRAWL_SMTP_USER and RECRAWL_SMTP_PASSWORD, then resume the sink"}
	}
	return errors.New(reason)
}

// ofSender judges the answer to our own address: if it is refused, so is every mail.
func ofSender(err error) error {
	switch code := codeOf(err); {
	case isLater(code):
		return &sink.Later{Reason: "the mail server wants to be asked later: " + words(err)}
	case code == 530 || code == 535 || code == 538: // asks for a login, or for encryption
		return &sink.Stop{Code: CodeLoginRefused, Reason: "the mail server wants a login: " + words(err) + ": set RECRAWL_SMTP_USER and RECRAWL_SMTP_PASSWORD, then resume the sink"}
	case isRefusal(code):
		return &sink.Stop{Code: CodeSenderRefused, Reason: "the mail server does not take mail of ours: " + words(err) + ": check RECRAWL_SMTP_FROM, then resume the sink"}
	}
	return fmt.Errorf("the mail server does not answer: %w", err)
}

// ofReceiver judges an answer to a receiver's address that is not a refusal.
func ofReceiver(address string, err error) error {
	if isLater(codeOf(err)) {
		return &sink.Later{Reason: fmt.Sprintf("the mail server takes mail for %s later: %s", clean(address, 100), words(err))}
	}
	return fmt.Errorf("the mail server does not answer: %w", err)
}

// ofMessage judges the answer to a message, or to the request to send one.
func ofMessage(err error) error {
	switch code := codeOf(err); {
	case err == nil:
		return nil
	case isLater(code):
		return &sink.Later{Reason: "the mail server takes the mail later: " + words(err)}
	case isRefusal(code):
		return &sink.Refused{Status: code, Reason: "the mail server refuses the mail: " + words(err)}
	}
	return fmt.Errorf("the mail server does not answer: %w", err)
}

// refusal is a receiver that the server refuses.
type refusal struct {
	address string
	err     error
}

// refusedBy says who does not get the mail, and that the others have it, so that no further
// try makes sense.
func refusedBy(refused []refusal, others int) error {
	var parts []string
	for _, r := range refused[:min(len(refused), 5)] {
		parts = append(parts, clean(r.address, 100)+" ("+words(r.err)+")")
	}
	if more := len(refused) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	e := &sink.Refused{Status: codeOf(refused[0].err), Reason: "the mail server refuses " + strings.Join(parts, ", ")}
	if others > 0 {
		e.Final = true
		e.Reason += fmt.Sprintf("; the other %d have the mail: mend or remove the address", others)
	}
	return e
}
