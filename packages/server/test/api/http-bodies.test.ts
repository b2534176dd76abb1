import { describe, expect, test } from "bun:test"
import { expectStatus, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const bytesMax = 4096

describeSqliteApi(
  "api/http bodies",
  (suite) => {
    describe("JSON", () => defineJson(suite))
    describe("code", () => defineCode(suite))
    describe("no body", () => defineNone(suite))
    describe("a body that cannot be read", () => defineBroken(suite))
    describe("the size of a body", () => defineSize(suite))
    describe("content-encoding", () => defineEncoding(suite))
  },
  { HAMLET_BODY_BYTES_MAX: String(bytesMax) },
)

function defineJson({ call, addUser: person, val }: ApiSuite): void {
  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/json; charset=latin1",
    "application/vnd.api+json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
    "multipart/form-data",
    "text/plain",
    "text/html",
    "application/javascript",
    "nonsense",
    "",
  ]) {
    test(`is accepted with any content type: "${type}"`, async () => {
      const ada = await person()
      const headers = { "content-type": type }
      const body = JSON.stringify({ name: "typed", code: "1", privacy: "public" })
      const { json } = expectStatus(await call("POST", "/v1/vals", { as: ada, body, headers }), 200)
      expect(json).toMatchObject({ name: "typed", code: "1" })
      const comment = await call("POST", `/v1/vals/${json.id}/comments`, {
        as: ada,
        body: '{"comment":"c"}',
        headers,
      })
      expect(expectStatus(comment, 201).json.comment).toBe("c")
    })
  }

  test("may begin with a byte order mark, and have spaces around it", async () => {
    const body = '\ufeff \n{ "code" : "1" }\r\n\t '
    expect(
      expectStatus(await call("POST", "/v1/vals", { as: await person(), body }), 200).json.code,
    ).toBe("1")
  })

  test("uses the last of two equal keys, and decodes escapes", async () => {
    const body = String.raw`{"code":"1","code":"\u00e9\ud83d\ude00\/\n"}`
    expect(
      expectStatus(await call("POST", "/v1/vals", { as: await person(), body }), 200).json.code,
    ).toBe("é😀/\n")
  })

  for (const body of [
    '{"code":"1","__proto__":{"privacy":"public"}}',
    '{"code":"1","constructor":{"prototype":{"privacy":"public"}}}',
    '{"code":"1","toString":1}',
  ]) {
    test(`with a prototype key changes only the fields it names: ${body}`, async () => {
      const { json } = expectStatus(
        await call("POST", "/v1/vals", { as: await person(), body }),
        200,
      )
      expect(json.privacy).toBe("private")
      expect({}).not.toHaveProperty("privacy")
    })
  }

  for (const body of ["null", "[]", '"text"', "0", "true", '[{"code":"1"}]']) {
    test(`that is not an object is refused: ${body}`, async () => {
      const ada = await person()
      const { id } = await val(ada)
      for (const [method, path] of [
        ["POST", "/v1/vals"],
        ["PUT", "/v1/vals"],
        ["PUT", `/v1/vals/${id}`],
        ["POST", `/v1/vals/${id}/versions`],
        ["POST", `/v1/vals/${id}/comments`],
        ["POST", "/v1/me/tokens"],
        ["PUT", "/v1/me/secrets/KEY"],
      ] as const) {
        expect([path, ...refusalOf(await call(method, path, { as: ada, body }))]).toEqual([
          path,
          400,
          "invalid_request",
        ])
      }
    })
  }
}

function defineCode({ call, addUser: person, val }: ApiSuite): void {
  const types = [
    "text/plain",
    "text/javascript",
    "text/typescript; charset=utf-8",
    "application/javascript",
    "application/x-javascript",
    "Text/Plain",
    "text/tsx",
  ]
  for (const type of types) {
    test(`is the whole body when its type is ${type}`, async () => {
      const ada = await person()
      const code = 'export default "{}"\n'
      const headers = { "content-type": type }
      const { json } = expectStatus(
        await call("POST", "/v1/vals", { as: ada, body: code, headers }),
        200,
      )
      expect(json).toMatchObject({ code, version: 1, privacy: "private" })
      const next = expectStatus(
        await call("POST", `/v1/vals/${json.id}/versions`, { as: ada, body: `${code}//`, headers }),
        201,
      )
      expect(next.json).toMatchObject({ code: `${code}//`, version: 2 })
    })
  }

  for (const body of [
    '{"name":"x"}',
    '{"code":1}',
    '{"code":null}',
    "[1,2]",
    '"text"',
    "42",
    "null",
    "\n",
    '{"code":"1"',
    '[{"code":"1"}]',
  ]) {
    test(`is the whole body when that is not an object with code: ${JSON.stringify(body)}`, async () => {
      const answer = await call("POST", "/v1/vals", {
        as: await person(),
        body,
        headers: { "content-type": "text/plain" },
      })
      expect(expectStatus(answer, 200).json.code).toBe(body)
    })
  }

  test("is the field code when the body is an object with that field", async () => {
    const body = '{"code":"1","name":"fromText","privacy":"unlisted"}'
    const answer = await call("POST", "/v1/vals", {
      as: await person(),
      body,
      headers: { "content-type": "text/plain" },
    })
    expect(expectStatus(answer, 200).json).toMatchObject({
      code: "1",
      name: "fromText",
      privacy: "unlisted",
    })
  })

  test("is refused when it is empty, contains NUL or is not UTF-8", async () => {
    const ada = await person()
    const send = (body: string | Uint8Array) =>
      call("POST", "/v1/vals", { as: ada, body, headers: { "content-type": "text/plain" } })
    expect(refusalOf(await send(""))).toEqual([400, "invalid_request"])
    expect(refusalOf(await send("a\0b"))).toEqual([400, "invalid_request"])
    expect(refusalOf(await send(Uint8Array.of(0x61, 0xff)))).toEqual([400, "invalid_json"])
  })

  test("is refused as a text body by routes that do not take code", async () => {
    const ada = await person()
    const { id } = await val(ada)
    const headers = { "content-type": "text/plain" }
    for (const [method, path] of [
      ["PUT", "/v1/vals"],
      ["PUT", `/v1/vals/${id}`],
      ["POST", `/v1/vals/${id}/comments`],
      ["PUT", "/v1/me/secrets/KEY"],
    ] as const) {
      expect(refusalOf(await call(method, path, { as: ada, body: "plain text", headers }))).toEqual(
        [400, "invalid_json"],
      )
    }
  })
}

function defineNone({ call, addUser: person, val }: ApiSuite): void {
  const headers = { "content-type": "application/json" }

  test("with a content type is accepted by routes without a body", async () => {
    const ada = await person()
    const { id } = await val(ada)
    expectStatus(await call("GET", `/v1/vals/${id}`, { headers }), 200)
    expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada, headers, body: "" }), 204)
    expectStatus(await call("DELETE", `/v1/vals/${id}/like`, { as: ada, headers, body: "" }), 204)
    expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada, headers }), 204)
  })

  test("is read as an empty object by routes that need a body", async () => {
    const answer = await call("POST", "/v1/vals", { as: await person(), headers, body: "" })
    expect(refusalOf(answer)).toEqual([400, "invalid_request"])
    expect(answer.json.issues).toEqual([{ path: "code", message: expect.any(String) }])
  })

  test("routes without a body ignore any body", async () => {
    const ada = await person()
    const { id } = await val(ada)
    for (const body of ["{", "x".repeat(2 * bytesMax), Uint8Array.of(0xff)]) {
      expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada, body }), 204)
    }
  })
}

function defineBroken({ call, addUser: person, sharedUser: anybody }: ApiSuite): void {
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
  for (const [title, body] of [
    ["half of it", '{"code":"1"'],
    ["a comma too many", '{"code":"1",}'],
    ["single quotes", "{'code':'1'}"],
    ["a comment", '{"code":"1"} // done'],
    ["two values", '{"code":"1"}{}'],
    ["no value", '{"code":}'],
    ["a raw line break in a string", '{"code":"\n"}'],
    ["an escape that is none", String.raw`{"code":"\x41"}`],
    ["NaN", '{"code":NaN}'],
    ["undefined", "undefined"],
    ["a form", "code=1&name=x"],
    ["spaces", "   "],
    ["NUL", "\0"],
    ["nesting without an end", "[".repeat(3000)],
    ["UTF-16", Buffer.from('{"code":"1"}', "utf16le")],
    ["Latin-1", Buffer.from('{"code":"é"}', "latin1")],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xc3, 0x28, 0x7d])],
    ["half of a surrogate pair in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ] as const) {
    test(`is 400: ${title}`, async () => {
      const answer = await call("POST", "/v1/vals", { as: await anybody(), body })
      expect(refusalOf(answer)).toEqual([400, "invalid_json"])
    })
  }

  test("is 400 also with the deepest nesting", async () => {
    const ada = await person()
    for (const body of [
      deep(2000),
      `{"code":${deep(2000)}}`,
      `{"code":"1","name":${deep(2000)}}`,
    ]) {
      expectStatus(await call("POST", "/v1/vals", { as: ada, body }), 400)
    }
    expectStatus(
      await call("POST", "/v1/vals", { as: ada, body: `{"code":"1","other":${deep(2000)}}` }),
      200,
    )
  })

  test("is not parsed before the caller is authenticated", async () => {
    expect(refusalOf(await call("POST", "/v1/vals", { body: "{" }))).toEqual([
      401,
      "unauthenticated",
    ])
  })
}

function defineSize(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const bodyOf = (bytes: number) => `{"code":"1","x":"${"x".repeat(bytes - 19)}"}`

  test("may be exactly the configured limit, and not one byte more", async () => {
    const ada = await person()
    expect(bodyOf(bytesMax).length).toBe(bytesMax)
    expectStatus(await call("POST", "/v1/vals", { as: ada, body: bodyOf(bytesMax) }), 200)
    const answer = await call("POST", "/v1/vals", { as: ada, body: bodyOf(bytesMax + 1) })
    expect(refusalOf(answer)).toEqual([413, "body_too_large"])
    expect(answer.json.message).toContain(String(bytesMax))
  })

  test("may be as large as a version for a save of files", async () => {
    const ada = await person()
    const made = await call("POST", "/v1/vals", { as: ada, body: { code: "1" } })
    const save = (count: number) => {
      const content = '"\n'.repeat(100_000)
      const changes = Array.from({ length: count }, (_, n) => ({ path: `f${n}.txt`, content }))
      return call("POST", `/v1/vals/${made.json.id}/files`, { as: ada, body: { changes } })
    }
    expect(expectStatus(await save(12), 200).json.files).toHaveLength(12)
    expect(refusalOf(await save(40))).toEqual([413, "body_too_large"])
  })

  test("is counted in bytes", async () => {
    expect(
      refusalOf(
        await call("POST", "/v1/vals", {
          as: await person(),
          body: `{"code":"${"é".repeat(bytesMax / 2)}"}`,
        }),
      ),
    ).toEqual([413, "body_too_large"])
  })

  test("is checked by content-length before anything is read", async () => {
    const { token } = await person()
    const headers = { authorization: `Bearer ${token}`, "content-length": String(bytesMax + 1) }
    const body = new ReadableStream({ pull: () => expect("the body").toBe("left alone") })
    const response = await suite.api.hamlet.app.fetch(
      new Request(`${testBaseUrl}/v1/vals`, { method: "POST", headers, body }),
    )
    expect(response.status).toBe(413)
  })

  test("is refused as soon as a body without content-length exceeds the limit", async () => {
    const { token } = await person()
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(1024))
      },
    })
    const headers = { authorization: `Bearer ${token}` }
    const response = await suite.api.hamlet.app.fetch(
      new Request(`${testBaseUrl}/v1/vals`, { method: "POST", headers, body }),
    )
    expect(response.status).toBe(413)
    expect(pulled).toBeLessThan(50)
  })

  test("is checked again when content-length is too small", async () => {
    const ada = await person()
    const answer = await call("POST", "/v1/vals", {
      as: ada,
      body: bodyOf(bytesMax + 1),
      headers: { "content-length": "10" },
    })
    expect(refusalOf(answer)).toEqual([413, "body_too_large"])
  })
}

function defineEncoding({ call, addUser: person }: ApiSuite): void {
  const body = '{"code":"1"}'

  for (const encoding of ["gzip", "br", "deflate", "GZIP", "gzip, identity", "nonsense"]) {
    test(`${encoding} is 415`, async () => {
      const packed = encoding === "gzip" ? Bun.gzipSync(body) : body
      const answer = await call("POST", "/v1/vals", {
        as: await person(),
        body: packed,
        headers: { "content-encoding": encoding },
      })
      expect(refusalOf(answer)).toEqual([415, "unsupported_encoding"])
    })
  }

  for (const encoding of ["identity", "Identity"]) {
    test(`${encoding} is accepted as unencoded`, async () => {
      expectStatus(
        await call("POST", "/v1/vals", {
          as: await person(),
          body,
          headers: { "content-encoding": encoding },
        }),
        200,
      )
    })
  }
}
