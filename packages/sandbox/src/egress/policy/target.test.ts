import { describe, expect, test } from "bun:test"
import { Refusal } from "./refusal.ts"
import { parseTarget } from "./target.ts"

describe("parseTarget", () => {
  test.each([
    ["http://a.test", "a.test", "a.test", 80, "/"],
    ["http://a.test:80/x", "a.test", "a.test", 80, "/x"],
    ["https://a.test:443/x?y=/z", "a.test", "a.test", 443, "/x?y=/z"],
    ["https://a.test:80/", "a.test:80", "a.test", 80, "/"],
    ["http://a.test:443/", "a.test:443", "a.test", 443, "/"],
    ["http://a.test?x=1", "a.test", "a.test", 80, "/?x=1"],
    ["http://A.Test./x", "a.test.", "a.test.", 80, "/x"],
    ["http://a.test/../../x/%2e%2e/y", "a.test", "a.test", 80, "/y"],
    ["http://a.test\\b.test/", "a.test", "a.test", 80, "/b.test/"],
    ["http:///a.test/x", "a.test", "a.test", 80, "/x"],
    ["http://a.test/x@b.test", "a.test", "a.test", 80, "/x@b.test"],
    ["http://a.test?@b.test", "a.test", "a.test", 80, "/?@b.test"],
    ["http://[::1]:8080/", "[::1]:8080", "[::1]", 8080, "/"],
    ["http://[0:0:0:0:0:ffff:127.0.0.1]/", "[::ffff:7f00:1]", "[::ffff:7f00:1]", 80, "/"],
    ["http://0x7f.1/", "127.0.0.1", "127.0.0.1", 80, "/"],
    ["http://2130706433:81/", "127.0.0.1:81", "127.0.0.1", 81, "/"],
    ["http://0177.0.0.1/", "127.0.0.1", "127.0.0.1", 80, "/"],
    ["http://a%2Etest/", "a.test", "a.test", 80, "/"],
    ["http://xn--bcher-kva.test/", "xn--bcher-kva.test", "xn--bcher-kva.test", 80, "/"],
    ["http://%EF%BC%91%EF%BC%92%EF%BC%97.1/", "127.0.0.1", "127.0.0.1", 80, "/"],
    ["http://a.test:0/", "a.test:0", "a.test", 0, "/"],
  ])("parses %s as browsers do", (text, host, hostname, port, path) => {
    expect(parseTarget(text)).toEqual({
      href: expect.any(String),
      isTls: text.startsWith("https"),
      host,
      hostname,
      port,
      path,
    })
    expect(parseTarget(text)).toMatchObject({ href: new URL(text).href })
  })

  test.each([
    "",
    "/",
    "*",
    "a.test:80",
    "ftp://a.test/",
    "HTTP://a.test/",
    "http:/a.test/",
    "http://",
    "http://:80/",
    "http://a.test:65536/",
    "http://a.test:8x/",
    "http://[::1/",
    "http://[::1%25eth0]/",
    "http://a%2Ftest/",
    "http://1.2.3.4.5/",
    "http://256.0.0.1/",
    "http://a.test/#x",
    "http://b@a.test/",
    "http://@a.test/",
    "http://b:c@a.test/",
    "http:///b@a.test/",
    "http://\\b@a.test/",
  ])("refuses %j", (text) => {
    expect(parseTarget(text)).toBeInstanceOf(Refusal)
  })
})
