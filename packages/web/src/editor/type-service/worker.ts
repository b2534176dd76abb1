/**
 * The type service: TypeScript in a web worker, so that it never delays typing. It receives the
 * libraries once, then documents and queries. It sends requests to this server only, for imported
 * vals.
 */
import { noPageKey } from "@hamlet/contract/client"
import { createProject, type Project } from "./project.ts"
import type { FromPage, FromWorker, ToWorker, TypeQueries, TypeQueryName } from "./protocol.ts"
import { complete } from "./queries/complete.ts"
import { findDefinition } from "./queries/definition.ts"
import { describeAt, describeName } from "./queries/describe.ts"
import { diagnose } from "./queries/diagnose.ts"
import { listFixes } from "./queries/fixes.ts"
import { format } from "./queries/format.ts"
import { listParameters } from "./queries/parameters.ts"
import { findRenamePlaces } from "./queries/rename.ts"
import { helpWithCall } from "./queries/signature-help.ts"

type Handlers = {
  readonly [Name in TypeQueryName]: (
    project: Project,
    path: string,
    input: TypeQueries[Name]["input"],
  ) => TypeQueries[Name]["result"]
}

const handlers: Handlers = {
  complete: (project, path, { position, isExplicit }) =>
    complete(project, path, position, isExplicit),
  describe: (project, path, { position, name }) =>
    describeName(project.findService(path), project.toFileName(path), position, name),
  hover: (project, path, { position }) =>
    describeAt(project.findService(path), project.toFileName(path), position),
  signature: (project, path, { position }) =>
    helpWithCall(project.findService(path), project.toFileName(path), position),
  definition: (project, path, { position }) => findDefinition(project, path, position),
  rename: (project, path, { position }) => findRenamePlaces(project, path, position),
  fixes: (project, path, range) => listFixes(project, path, range),
  parameters: (project, path) => listParameters(project, path),
  diagnose: (project, path) => diagnose(project, path),
  format: (project, path) => format(project, path),
}

/** The results when TypeScript itself fails. */
const emptyResults: { readonly [Name in TypeQueryName]: TypeQueries[Name]["result"] } = {
  complete: null,
  describe: null,
  hover: null,
  signature: null,
  definition: null,
  rename: { ok: false, message: "Cannot rename: TypeScript has failed" },
  fixes: [],
  parameters: null,
  diagnose: [],
  format: { ok: false, message: "Cannot format the code: the formatter has failed" },
}

const post = (message: FromWorker) => self.postMessage(message)
let project: Project | undefined
let pageKey: string = noPageKey

self.addEventListener("message", ({ data }: MessageEvent<ToWorker & FromPage>) => {
  pageKey = data.pageKey
  if (data.kind === "start") void start(data)
  else if (data.kind === "query") post({ kind: "result", id: data.id, result: runQuery(data) })
  else if (data.kind === "lock") project?.setLocked(data.path, data.locked)
  else if (data.kind === "text") project?.setText(data.path, data.text)
  else project?.[data.kind](data.path)
})

async function start({
  libsUrl,
  nodeTypesUrl,
  domTypesUrl,
  baseUrl,
}: Extract<ToWorker, { kind: "start" }>): Promise<void> {
  try {
    const libs = await fetchFiles(libsUrl)
    project = createProject({
      libs,
      baseUrl,
      readPageKey: () => pageKey,
      loadNodeTypes: () => fetchFiles(nodeTypesUrl).catch(() => undefined),
      loadDomTypes: () => fetchFiles(domTypesUrl).catch(() => undefined),
      onTypesChanged: () => post({ kind: "types_changed" }),
    })
    // Reading the libraries takes seconds. Earlier queries return undefined at once.
    project.warmUp()
    post({ kind: "ready" })
  } catch (error) {
    post({ kind: "failed", message: `Cannot load the types: ${String(error)}` })
  }
}

/** The texts of declarations by file name. */
async function fetchFiles(url: string): Promise<Record<string, string>> {
  const response = await fetch(url, { credentials: "same-origin" })
  if (!response.ok) throw new Error(`the server responded ${response.status}`)
  return (await response.json()) as Record<string, string>
}

function runQuery({
  name,
  path,
  text,
  input,
}: Extract<ToWorker, { kind: "query" }>): TypeQueries[TypeQueryName]["result"] {
  if (!project) return emptyResults[name]
  try {
    if (text !== undefined) project.setText(path, text)
    const handler = handlers[name] as (
      project: Project,
      path: string,
      input: unknown,
    ) => TypeQueries[TypeQueryName]["result"]
    return handler(project, path, input)
  } catch (error) {
    // TypeScript may throw: one failed query must not stop the service.
    console.warn(error)
    return emptyResults[name]
  }
}
