const host = "https://hamlet.example"
const valUrl = `${host}/v1/vals/019a7c1e-52d0-7b3a-9f41-6d0c8e2b7a15`

/** Values by field name: an example with `"code": "string"` explains nothing. */
export const hintsByName: Readonly<Record<string, string>> = {
  "Idempotency-Key": "019a7c1e-6a00-7c44-8d1e-2f5b90c4e7d3",
  "If-Match": '"3"',
  "If-None-Match": '"3"',
  bio: "I write small programs",
  code: 'export default () => "Hello, world"',
  comment: "Works well, thank you",
  database: "sqlite",
  email: "ada@hamlet.example",
  endpoint: "https://ada-hello.hamlet.example",
  error: "Not Found",
  hosts: "api.hamlet.example",
  message: "Hello, world",
  method: "GET",
  module: `${host}/v/ada/hello`,
  name: "hello",
  next: `${valUrl}?limit=20&offset=20&cursor=WzE3MDUzMTU0MDAwMDBd`,
  openapi: "3.1.0",
  path: "name",
  prev: `${valUrl}?limit=20&offset=0`,
  query: "hello",
  readme: "# Hello\n\nSays hello.",
  requestId: "019a7c1e-52d0-7b3a-9f41-6d0c8e2b7a15",
  self: valUrl,
  source: "api",
  stack: "Error: …\n    at hello.ts:1:7",
  status: "succeeded",
  token: "the-secret-string-is-shown-only-here",
  url: `${host}/ada/hello`,
  username: "ada",
  val_name: "hello",
  value: "s3cr3t",
  version: "0.1.0",
  versions: `${valUrl}/versions`,
}

/** Nullable fields that are usually null. */
export const nullNames: ReadonlySet<string> = new Set(["error", "parentId"])

/** Values by format. */
export const hintsByFormat: Readonly<Record<string, string>> = {
  uuid: "019a7c1e-52d0-7b3a-9f41-6d0c8e2b7a15",
  "date-time": "2026-01-15T09:30:00.000Z",
  email: "ada@hamlet.example",
  uri: host,
}

/** Tried in order when neither name nor format helps; the first that meets the constraints wins. */
export const hintsByTrial: readonly string[] = [
  "text",
  "hello",
  "HELLO",
  "api.hamlet.example",
  "text/plain",
  "/",
  "1",
  "",
]
