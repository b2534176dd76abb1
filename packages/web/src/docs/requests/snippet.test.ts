import { describe, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { operationsOf } from "../operations/api.ts"
import { type ApiRequest, emptyDraft, type RequestDraft, toRequest } from "./request.ts"
import { type SnippetKind, toSnippet } from "./snippet.ts"

const { schemas } = realApi
const baseUrl = "http://localhost:8080"
const token = "a-token-that-is-long-enough-for-anything"
const hostile = 'it\'s "x" `y` $HOME ${z} \\ @f\n!--<b>'

interface Sent {
  readonly method: string
  readonly url: string
  readonly authorization: string | undefined
  readonly body: string | undefined
}

function toFilledRequest(id: string, draft: Partial<RequestDraft> = {}): ApiRequest {
  const operation = realOperation(id)
  return toRequest(schemas, operation, { ...emptyDraft(schemas, operation), ...draft }, true)
}

function snippet(kind: SnippetKind, request: ApiRequest): string {
  return toSnippet(kind, { schemas, request, baseUrl, hasToken: true })
}

/** Runs a snippet with a `fetch` that records its request. */
async function run(code: string): Promise<Sent | undefined> {
  let sent: Sent | undefined
  const fetch = async (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    sent = {
      method: init.method ?? "GET",
      url,
      authorization: headers.get("authorization") ?? undefined,
      body: init.body as string | undefined,
    }
    return Response.json({}, { status: 200 })
  }
  const script = code.replace(/^import .*\n/, "")
  const create = (options: object) =>
    createClient({ ...options, fetch, retriesMax: 0 } as Parameters<typeof createClient>[0])
  const body = new Function(
    "fetch",
    "createClient",
    "process",
    "console",
    `return (async () => {\n${script}\n})()`,
  )
  // What the response is read as does not matter here, and a made-up one need not fit.
  await body(fetch, create, { env: { HAMLET_TOKEN: token } }, { log() {} }).catch(() => undefined)
  return sent
}

/** Runs a curl line in a shell where curl prints its arguments. */
function curlArguments(code: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${code}`
  const { stdout, exitCode } = Bun.spawnSync(["sh", "-c", script], {
    env: { HAMLET_TOKEN: token, HOME: "/nowhere" },
  })
  expect(exitCode).toBe(0)
  return stdout.toString().split("\0").slice(0, -1)
}

/**
 * Runs Python programs in one process, with a `urlopen` that records the request of each. Undefined
 * without Python.
 */
function runPython(codes: readonly string[]): readonly Sent[] | undefined {
  const program = Bun.which("python3")
  if (program === null) return undefined
  const script = [
    "import contextlib, io, json, sys, urllib.request",
    "sent = []",
    "@contextlib.contextmanager",
    "def urlopen(request):",
    "    data = None if request.data is None else request.data.decode()",
    "    sent.append({'method': request.get_method(), 'url': request.full_url,",
    "        'authorization': request.get_header('Authorization'), 'body': data})",
    "    response = io.BytesIO(b'{}')",
    "    response.status = 200",
    "    yield response",
    "urllib.request.urlopen = urlopen",
    "for code in json.load(sys.stdin):",
    "    with contextlib.redirect_stdout(io.StringIO()):",
    "        exec(compile(code, 'snippet', 'exec'), {})",
    "print(json.dumps(sent))",
  ].join("\n")
  const { stdout, stderr, exitCode } = Bun.spawnSync([program, "-c", script], {
    stdin: Buffer.from(JSON.stringify(codes)),
    env: { ...process.env, HAMLET_TOKEN: token, PYTHONIOENCODING: "utf-8" },
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString())
}

/** Checks what Go's parser would: strings and brackets close, and imports are used. */
function assertGoShape(code: string): void {
  const bare = code.replaceAll(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g, '""')
  expect(bare).not.toContain("`")
  expect(bare.replaceAll('""', "")).not.toContain('"')
  const open: string[] = []
  const closing: Record<string, string> = { ")": "(", "}": "{", "]": "[" }
  for (const [bracket] of bare.matchAll(/[(){}[\]]/g)) {
    const opened = closing[bracket]
    if (opened === undefined) open.push(bracket)
    else expect(open.pop()).toBe(opened)
  }
  expect(open).toEqual([])
  const [, imports = ""] = /^import \(\n([^)]*)\)/m.exec(code) ?? []
  for (const [, name = ""] of imports.matchAll(/"(?:\w+\/)*(\w+)"/g))
    expect(bare).toContain(`${name}.`)
  for (const [, name = ""] of bare.matchAll(/\b(fmt|io|http|os|strings)\./g))
    expect(imports).toContain(`${name}"`)
}

/** The value of a body, which is the body itself where it is no JSON. */
const asJson = (text: string | undefined) => (text?.startsWith("{") ? JSON.parse(text) : text)

describe.each(operationsOf(realApi).map((operation) => operation.id))("toSnippet of %s", (id) => {
  const request = toFilledRequest(id)
  const wanted = {
    method: request.operation.method,
    url: baseUrl + request.path,
    authorization: `Bearer ${token}`,
  }

  test("as curl sends the same as the form", () => {
    const args = curlArguments(snippet("curl", request))
    const method = args.includes("-X") ? args[args.indexOf("-X") + 1] : "GET"
    expect({ method, url: args.find((arg) => arg.startsWith("http")) }).toEqual({
      method: wanted.method,
      url: wanted.url,
    })
    expect(args).toContain(`Authorization: ${wanted.authorization}`)
    expect(request.body ? args.at(-1) : undefined).toBe(request.body?.text)
  })

  test("as fetch sends the same as the form", async () => {
    const { body, ...sent } = (await run(snippet("fetch", request))) ?? {}
    expect(sent).toEqual(wanted)
    expect(asJson(body)).toEqual(asJson(request.body?.text))
  })

  test("as client sends the same as the form", async () => {
    const { body, ...sent } = (await run(snippet("client", request))) ?? {}
    expect(sent).toEqual(wanted)
    expect(asJson(body)).toEqual(asJson(request.body?.text))
  })

  test("as Go is well formed", () => {
    const code = snippet("go", request)
    assertGoShape(code)
    expect(code).toContain(`http.NewRequest("${wanted.method}", `)
    expect(code).toContain(wanted.url)
  })
})

describe("toSnippet", () => {
  const body = { mode: "fields", fields: { code: hostile, name: "x" }, json: "", text: "" } as const

  test.skipIf(Bun.which("python3") === null)("as Python sends the same as the form", () => {
    const requests = operationsOf(realApi).map(({ id }) => toFilledRequest(id))
    const sent = runPython(requests.map((request) => snippet("python", request)))
    expect(
      sent?.map(({ body, ...rest }) => ({ ...rest, body: asJson(body ?? undefined) })),
    ).toEqual(
      requests.map((request) => ({
        method: request.operation.method,
        url: baseUrl + request.path,
        authorization: `Bearer ${token}`,
        body: asJson(request.body?.text),
      })),
    )
  })

  test.skipIf(Bun.which("python3") === null)("quotes hostile text for Python", () => {
    const code = snippet("python", toFilledRequest("saveVal", { body }))
    const [sent] = runPython([code]) ?? []
    expect(asJson(sent?.body)).toEqual({ name: "x", code: hostile })
  })

  test("quotes hostile text for Go", () => {
    for (const text of [hostile, `a \r "b"`, "plain", '"', "a\\", "``"]) {
      const fields = { code: text, name: "x" }
      assertGoShape(snippet("go", toFilledRequest("saveVal", { body: { ...body, fields } })))
    }
  })

  test("quotes hostile text for the shell", () => {
    const request = toFilledRequest("saveVal", { body })
    expect(curlArguments(snippet("curl", request)).at(-1)).toBe(request.body?.text ?? "")
  })

  test.each<SnippetKind>(["fetch", "client"])("quotes hostile text for %s", async (kind) => {
    const sent = await run(snippet(kind, toFilledRequest("saveVal", { body })))
    expect(asJson(sent?.body)).toEqual({ name: "x", code: hostile })
  })

  test.each<SnippetKind>(["fetch", "client"])(
    "keeps a field named __proto__ as %s",
    async (kind) => {
      const json = '{"__proto__":{"x":1},"code":"y"}'
      const sent = await run(
        snippet(kind, toFilledRequest("createVal", { body: { ...body, mode: "json", json } })),
      )
      expect(sent?.body).toContain('"__proto__"')
    },
  )

  test("follows the form, with headers as options of the client", () => {
    const parameters = {
      "path val_id": "019a7c1e-52d0-7b3a-9f41-000000000000",
      "header If-Match": '"3"',
    }
    const request = toFilledRequest("deleteVal", { parameters })
    expect(snippet("client", request)).toContain("ifMatch: 3")
    expect(snippet("curl", request)).toContain(`-H 'If-Match: "3"'`)
    expect(snippet("fetch", request)).toContain(`"if-match": "\\"3\\""`)
  })

  test("never contains the token, and no authorization where none is sent", () => {
    const request = toFilledRequest("getHealth")
    expect(toSnippet("curl", { schemas, request, baseUrl, hasToken: false })).toBe(
      `curl '${baseUrl}/healthz'`,
    )
    expect(toSnippet("fetch", { schemas, request, baseUrl, hasToken: false })).not.toContain(
      "authorization",
    )
  })
})
