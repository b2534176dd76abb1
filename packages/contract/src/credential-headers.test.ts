import { expect, test } from "bun:test"
import { isCredentialHeader } from "./credential-headers.ts"

test.each(["Authorization", "cookie", "Set-Cookie", "X-API-Key", "apikey", "x-csrf-token"])(
  "isCredentialHeader knows %s",
  (name) => expect(isCredentialHeader(name)).toBe(true),
)

test.each(["accept", "content-type", "x-mine", "cookies-accepted", ""])(
  "isCredentialHeader leaves %s alone",
  (name) => expect(isCredentialHeader(name)).toBe(false),
)
