import { describe, expect, test } from "bun:test"
import { loadConfig } from "../../config/config.ts"
import { checkExposure } from "./check-exposure.ts"

const proxied = {
  HAMLET_BASE_URL: "https://hamlet.example.org",
  HAMLET_VALS_DOMAIN: "vals.example.net",
  HAMLET_ADDRESS_HEADER: "x-forwarded-for",
}

const find = (env: Record<string, string>) =>
  checkExposure(loadConfig(env, [])).map(({ status, found }) => `${status}: ${found}`)

describe("checkExposure", () => {
  test("reports no problem for a local server, or for one behind a proxy with all settings", () => {
    expect(find({})).toEqual(["ok: for this machine only, without rate limits"])
    expect(find(proxied)).toEqual([
      "ok: for others, at https://hamlet.example.org, with rate limits",
    ])
    expect(
      find({ ...proxied, HAMLET_BASE_URL: "https://one.co.uk", HAMLET_VALS_DOMAIN: "two.co.uk" }),
    ).toHaveLength(1)
  })

  test.each([
    [{ HAMLET_ADDRESS_HEADER: "" }, "all who come through the proxy count as one address"],
    [{ HAMLET_BASE_URL: "http://hamlet.example.org" }, "is not encrypted"],
    [{ HAMLET_VALS_DOMAIN: "hamlet.example.org" }, "the same site"],
    [{ HAMLET_VALS_DOMAIN: "vals.hamlet.example.org:8443" }, "the same site"],
    [{ HAMLET_VALS_DOMAIN: "vals.example.org" }, "the same site"],
    [{ HAMLET_RATE_PER_TOKEN: "none" }, "HAMLET_RATE_PER_TOKEN is none"],
    [
      { HAMLET_PUBLIC: "no", HAMLET_HOST: "0.0.0.0" },
      "without rate limits, because HAMLET_PUBLIC is no",
    ],
  ])("warns of %j", (more, sentence) => {
    expect(find({ ...proxied, ...more })).toEqual([
      expect.stringMatching(new RegExp(`^warning: .*${sentence}`)),
    ])
  })
})
