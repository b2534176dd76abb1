import { describe, expect, test } from "bun:test"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { toResponseExamples } from "./response-example.ts"

describe("toResponseExamples", () => {
  const examples = (id: string) =>
    toResponseExamples(realApi.schemas, realOperation(id).responses, {
      name_taken: "It is `taken`.",
    })
  const body = (id: string, label: string) =>
    JSON.parse(examples(id).find((example) => example.label === label)?.text ?? "null")

  test("has one for each success and one for each error code", () => {
    const labels = examples("createVersion").map((example) => example.label)
    expect(labels).toContain("201")
    expect(labels).toContain("409 name_taken")
    expect(labels).toContain("409 idempotency_in_flight")
  })

  test("shows an error with its own status, code and meaning", () => {
    const shown = body("createVal", "409 name_taken")
    expect(shown).toMatchObject({
      statusCode: 409,
      error: "Conflict",
      code: "name_taken",
      message: "It is taken",
    })
    expect(shown).not.toHaveProperty("issues")
    expect(body("createVal", "400 invalid_request").issues).toHaveLength(1)
  })

  test("handles responses without a body and responses that are not JSON", () => {
    expect(examples("deleteVal")[0]?.text).toBeUndefined()
    expect(examples("getModule")[0]).toMatchObject({ language: "text" })
  })
})
