import type { TestUser } from "../../support/api.ts"
import type { AttackServer, SavedVal } from "./attack-server.ts"

/** The result of an evaluation: what the code returned, or the error that it got as `name: message`. */
export interface EvalResult {
  readonly got?: unknown
  readonly denied?: string
  readonly runId: string
}

/** A val that does what it is told. Many probes need one process and not one each. */
export interface EvalVal {
  readonly val: SavedVal
  /** Does what the code says, which is the body of an async function of `request`. */
  evaluate(code: string): Promise<EvalResult>
}

export async function createEvalVal(
  server: AttackServer,
  owner: TestUser = server.mallory,
): Promise<EvalVal> {
  const val = await server.save(owner, { code: evalCode })
  return {
    val,
    async evaluate(code) {
      const { status, text, json, headers } = await server.request(val, {
        method: "POST",
        body: code,
      })
      const runId = headers.get("x-run-id") ?? ""
      if (status === 200 && json !== undefined) return { ...json, runId }
      const error = runId === "" ? text : (await server.endedRun(runId, owner)).error
      throw new Error(`the val did not evaluate the code: ${status} ${JSON.stringify(error)}`)
    },
  }
}

/** One for all probes of a suite, made when the first of them wants it. */
export function shareEvalVal(getServer: () => AttackServer): () => Promise<EvalVal> {
  let evalVal: Promise<EvalVal> | undefined
  return () => {
    evalVal ??= createEvalVal(getServer())
    return evalVal
  }
}

const evalCode = `const AsyncFunction = (async () => {}).constructor
export default async function (request) {
  const code = await request.text()
  try {
    return Response.json({ got: (await new AsyncFunction("request", code)(request)) ?? "nothing" })
  } catch (error) {
    return Response.json({ denied: error?.name + ": " + error?.message })
  }
}
`
