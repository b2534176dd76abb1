import { describe, expect, test } from "bun:test"
import { needsInvitation, type SignUpPolicy, suggestUsername } from "./sign-up-policy.ts"

const policy = (change: Partial<SignUpPolicy>): SignUpPolicy => ({
  signUp: "none",
  domains: [],
  linksByEmail: false,
  ...change,
})

describe("needsInvitation", () => {
  const ada = { email: "ada@Corp.example", isEmailVerified: true }

  test("follows the choice of the operator", () => {
    expect(needsInvitation(policy({ signUp: "all" }), ada)).toBe(false)
    expect(needsInvitation(policy({ signUp: "invited" }), ada)).toBe(true)
    expect(() => needsInvitation(policy({}), ada)).toThrow("no account on this server")
  })

  test("lets verified addresses of exactly these domains pass", () => {
    const domains = policy({ domains: ["corp.example"], signUp: "invited" })
    expect(needsInvitation(domains, ada)).toBe(false)
    expect(needsInvitation(domains, { ...ada, isEmailVerified: false })).toBe(true)
    for (const email of [
      "ada@sub.corp.example",
      "ada@notcorp.example",
      "ada@corp.example@evil.example",
      "corp.example",
      null,
    ])
      expect(needsInvitation(domains, { email, isEmailVerified: true })).toBe(true)
  })
})

describe("suggestUsername", () => {
  const suggest = (username: string | null, email: string | null = null) =>
    suggestUsername({ username, email, isEmailVerified: false })

  test("makes a name that a user may have, or none", () => {
    expect(suggest("ada")).toBe("ada")
    expect(suggest("ada@corp.example")).toBe("ada")
    expect(suggest(null, "ada.lovelace+x@corp.example")).toBe("ada_lovelace_x")
    expect(suggest("Žofie-Ana")).toBe("Zofie_Ana")
    expect(suggest("42 is the answer")).toBe("is_the_answer")
    expect(suggest("a".repeat(80))).toHaveLength(30)
    for (const name of ["", "***", "___", "漢字", "12", null]) expect(suggest(name)).toBeNull()
  })
})
