/**
 * The type service: TypeScript in a web worker, so that nothing it does holds up a key. It is given
 * the libraries once, then documents and questions about them. It asks nobody but this server, for
 * the vals that documents import.
 */
import { noPageKey } from "@hamlet/contract/client"
import { complete } from "./complete.ts"
import { describeAt, describeName } from "./describe.ts"
import { diagnose } from "./diagnose.ts"
import { format } from "./format.ts"
import { createProject, type Project } from "./project.ts"
import type { FromPage, FromWorker, QuestionName, Questions, ToWorker } from "./protocol.ts"

type Answerers = {
  readonly [Name in QuestionName]: (
    project: Project,
    path: string,
    ask: Questions[Name]["ask"],
  ) => Questions[Name]["answer"]
}

const answerers: Answerers = {
  complete: (project, path, { position, isExplicit }) =>
    complete(
      project.service,
      project.toFileName(path),
      project.getText(path),
      position,
      isExplicit,
    ),
  describe: (project, path, { position, name }) =>
    describeName(project.service, project.toFileName(path), position, name),
  hover: (project, path, { position }) =>
    describeAt(project.service, project.toFileName(path), position),
  diagnose: (project, path) => diagnose(project, path),
  format: (project, path) => format(project, path),
}

/** What is said when TypeScript itself fails. */
const nothing: { readonly [Name in QuestionName]: Questions[Name]["answer"] } = {
  complete: null,
  describe: null,
  hover: null,
  diagnose: [],
  format: { ok: false, message: "Cannot format the code: the formatter has failed" },
}

const say = (message: FromWorker) => self.postMessage(message)
let project: Project | undefined
let pageKey: string = noPageKey

self.addEventListener("message", ({ data }: MessageEvent<ToWorker & FromPage>) => {
  pageKey = data.pageKey
  if (data.kind === "start") void start(data.libsUrl, data.baseUrl)
  else if (data.kind === "ask") say({ kind: "answer", id: data.id, answer: answer(data) })
  else project?.[data.kind](data.path)
})

async function start(libsUrl: string, baseUrl: string): Promise<void> {
  try {
    const response = await fetch(libsUrl, { credentials: "same-origin" })
    if (!response.ok) throw new Error(`the server answered with ${response.status}`)
    const libs = (await response.json()) as Record<string, string>
    project = createProject({
      libs,
      baseUrl,
      readPageKey: () => pageKey,
      onTypesChanged: () => say({ kind: "types_changed" }),
    })
    // Reading the libraries takes seconds. Whoever asks before it is done gets no answer at once,
    // instead of a good one too late.
    project.warmUp()
    say({ kind: "ready" })
  } catch (error) {
    say({ kind: "failed", message: `Cannot load the types: ${String(error)}` })
  }
}

function answer({
  name,
  path,
  text,
  ask,
}: Extract<ToWorker, { kind: "ask" }>): Questions[QuestionName]["answer"] {
  if (!project) return nothing[name]
  try {
    if (text !== undefined) project.setText(path, text)
    const answerer = answerers[name] as (
      project: Project,
      path: string,
      ask: unknown,
    ) => Questions[QuestionName]["answer"]
    return answerer(project, path, ask)
  } catch (error) {
    // TypeScript has faults of its own: one question without an answer is better than a service
    // that is gone.
    console.warn(error)
    return nothing[name]
  }
}
