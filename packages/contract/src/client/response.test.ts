import { describe, expect, test } from "bun:test"
import { startSequence } from "../../test/support/scripted-server.ts"
import { ApiError, createClient } from "../client.ts"
import { errorCodes, statusTexts } from "../errors.ts"

const val_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
const token = "ham_5ecret"

async function fail(answer: () => Response): Promise<ApiError> {
  await using server = startSequence(answer)
  const error = await createClient({ baseUrl: server.url, token, retriesMax: 0 })
    .getVal({ val_id })
    .catch((cause: unknown) => cause)
  if (!(error instanceof ApiError)) throw new Error(`Not an ApiError: ${error}`)
  expect(error).toBeInstanceOf(Error)
  return error
}

describe("toRawResponse, for an error response,", () => {
  for (const [code, { status }] of Object.entries(errorCodes)) {
    test(`throws an ApiError with the code ${code}`, async () => {
      const body = {
        statusCode: status,
        error: statusTexts[status],
        code,
        message: "Cannot do it: no",
        requestId: "r1",
        issues: [{ path: "body.code", message: "must be text" }],
      }
      const error = await fail(() =>
        Response.json(body, { status, headers: { "retry-after": "7" } }),
      )
      expect(error.name).toBe("ApiError")
      expect(error.message).toBe("Cannot do it: no")
      expect(error.status).toBe(status)
      expect(error.code as string).toBe(code)
      expect(error.requestId).toBe("r1")
      expect(error.issues).toEqual([{ path: "body.code", message: "must be text" }])
      expect(error.retryAfterMs).toBe(7_000)
    })
  }

  const strange: [title: string, body: string, message: RegExp][] = [
    [
      "a page of HTML",
      "<h1>Bad gateway</h1>",
      /^Cannot GET "http.+\/v1\/vals\/.+": the server responded with 502$/,
    ],
    ["nothing", "", /the server responded with 502$/],
    ["null", "null", /the server responded with 502$/],
    ["a list", "[1]", /the server responded with 502$/],
    [
      "fields of other types",
      '{"message":1,"code":2,"requestId":3,"issues":4}',
      /the server responded with 502$/,
    ],
    [
      "a code of a later version",
      '{"message":"Cannot, yet","code":"moon_not_full"}',
      /^Cannot, yet$/,
    ],
  ]
  for (const [title, body, message] of strange) {
    test(`has the code unknown when the body is ${title}`, async () => {
      const error = await fail(
        () => new Response(body, { status: 502, headers: { "x-request-id": "r2" } }),
      )
      expect(error.message).toMatch(message)
      expect({ ...error }).toMatchObject({
        status: 502,
        code: "unknown",
        requestId: "r2",
        issues: [],
      })
      expect(error.retryAfterMs).toBeUndefined()
    })
  }

  test("removes the token from a message that echoes it", async () => {
    const error = await fail(() =>
      Response.json({ message: `Bad header: Bearer ${token}` }, { status: 400 }),
    )
    expect(error.message).toBe("Bad header: Bearer [token]")
    expect(Bun.inspect(error)).not.toContain(token)
  })

  test("throws if the response of a JSON route is not JSON, even with status 200", async () => {
    const error = await fail(() => new Response("<h1>Please log in to the Wi-Fi</h1>"))
    expect(error.message).toEndWith("the response is not JSON")
    expect(error).toMatchObject({ status: 200, code: "unknown" })
  })

  test("throws for an unexpected 304", async () => {
    expect(await fail(() => new Response(null, { status: 304 }))).toMatchObject({
      status: 304,
      code: "unknown",
    })
  })
})

describe("toRawResponse, for a successful response,", () => {
  test("returns text as text even when it looks like JSON", async () => {
    await using server = startSequence(
      () => new Response("[1]", { headers: { "content-type": "text/javascript" } }),
    )
    expect(
      await createClient({ baseUrl: server.url }).getModule({
        username: "ada",
        val_name: "hello@3",
      }),
    ).toBe("[1]")
  })

  test("distinguishes 200 from 304", async () => {
    await using server = startSequence(
      () => Response.json({ name: "hello" }, { headers: { etag: '"3"' } }),
      () => new Response(null, { status: 304, headers: { etag: '"3"' } }),
    )
    const { raw } = createClient({ baseUrl: server.url })
    const first = await raw.getVal({ val_id })
    expect(first.body.name).toBe("hello")
    const second = await raw.getVal({ val_id }, { ifNoneMatch: first.headers.get("etag") ?? "" })
    expect(second.status).toBe(304)
    expect(second.body).toBeUndefined()
  })
})
