import { noMask, sha256, toOwnJson } from "@hamlet/kit"
import { findDeno } from "../../../scripts/find-deno.ts"
import { type RunnerLimits, runnerLimits } from "./processes/runner-limits.ts"
import { Supervisor } from "./processes/supervisor.ts"
import type { LogLine, Program, RunError } from "./program/runner.ts"
import { sandboxLimits } from "./sandboxes/sandbox-limits.ts"
import { Sandboxes } from "./sandboxes/sandboxes.ts"

/** What a call of a stranger's code has led to. */
export interface CodeOutcome {
  /** The JSON of the result, or undefined if there is an error. */
  readonly json: string | undefined
  readonly error: RunError | undefined
  readonly logs: readonly LogLine[]
}

/** Runs code of strangers on this machine, each text in a process of its own, without network. */
export interface CodeRunner extends AsyncDisposable {
  /**
   * Calls the default export of a module with the arguments. The time counts for the whole run; a
   * run that takes longer is stopped, and so is what it has left behind.
   */
  call(owner: string, code: string, args: readonly unknown[]): Promise<CodeOutcome>
}

const address = "http://sandbox.invalid"

/**
 * Prepares sandboxes in a folder of their own. The strongest isolation that the machine offers is
 * used; with `isolation: "bubblewrap"` nothing weaker is.
 */
export async function openCodeRunner(options: {
  readonly dataDir: string
  readonly isolation?: "auto" | "bubblewrap"
  readonly limits?: Partial<RunnerLimits>
}): Promise<CodeRunner> {
  const sandboxes = await Sandboxes.create(
    {
      isolation: options.isolation ?? "auto",
      dataDir: options.dataDir,
      baseUrl: address,
      importHosts: [],
      limits: sandboxLimits,
      denoPath: findDeno(),
    },
    () => {},
  )
  const supervisor = new Supervisor(
    {
      launch: (isAwaited) => sandboxes.launch(isAwaited),
      hurry: () => sandboxes.hurry(),
      isolation: () => sandboxes.report.level,
      onAvailability: () => {},
    },
    { ...runnerLimits, readyMin: 0, ...options.limits },
  )
  return {
    call: (owner, code, args) => call(supervisor, toProgram(owner, code), args),
    async [Symbol.asyncDispose]() {
      await supervisor.stop()
      await sandboxes.stop()
    },
  }
}

async function call(
  supervisor: Supervisor,
  program: Program,
  args: readonly unknown[],
): Promise<CodeOutcome> {
  const logs: LogLine[] = []
  const slot = await supervisor.acquire(program, {
    id: Bun.randomUUIDv7(),
    depth: 0,
    log: (line) => logs.push(line),
    skipLogs: () => {},
    fail: () => {},
    sent: () => {},
  })
  try {
    const outcome = await slot.call(args)
    if (outcome.kind === "stopped") return { json: undefined, error: outcome.error, logs }
    const { json } = outcome
    const text = typeof json === "string" ? json : new TextDecoder().decode(json)
    return { json: text, error: undefined, logs }
  } finally {
    slot.release()
  }
}

function toProgram(owner: string, code: string): Program {
  const key = sha256(toOwnJson([owner, code])).toString("hex")
  const url = `${address}/${key}/main.tsx`
  return {
    key,
    group: key,
    line: key,
    version: 1,
    isHttp: false,
    accountId: owner,
    label: key,
    entryUrl: url,
    endpoint: address,
    readFile: async () => null,
    isMeant: () => false,
    load: async () => ({
      modules: [{ url, code }],
      bundles: [],
      env: {},
      substitutions: [],
      mask: noMask,
      end: () => {},
    }),
  }
}
