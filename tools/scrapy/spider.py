"""A spider that follows all links on the seeds' hosts and keeps what it gets, for
`make bench-peers`: scrapy runspider spider.py -a seeds=URL,URL -a out=FOLDER"""

import os
from urllib.parse import urlsplit

import scrapy
from scrapy.linkextractors import LinkExtractor


class All(scrapy.Spider):
    name = "all"

    def __init__(self, seeds, out, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = seeds.split(",")
        self.allowed_domains = sorted({urlsplit(url).hostname for url in self.start_urls})
        self.links = LinkExtractor()
        self.out = out
        self.saved = 0

    def parse(self, response):
        self.saved += 1
        with open(os.path.join(self.out, f"{self.saved}.html"), "wb") as f:
            f.write(response.body)
        for link in self.links.extract_links(response):
            yield response.follow(link)
