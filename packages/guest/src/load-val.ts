import { toErrorText } from "./error-text.ts"
import { setLogLimit } from "./outbox.ts"
import { hidePaths } from "./process-guard.ts"
import { createBroken, type Program, toProgram } from "./program.ts"
import type { ErrorText, Load } from "./protocol.ts"
import { closeRun, createRun, inRun, openRun, setLoadRun } from "./runs.ts"
import { nameModulesBeside } from "./stack-text.ts"

export interface LoadedVal {
  readonly program: Program
  /** Why it could not be loaded. */
  readonly error: ErrorText | undefined
}

/** Makes this process the val's, as far as that goes without its module. */
export function becomeVal(load: Load): void {
  setLogLimit(load.limits.logBytesMax)
  nameModulesBeside(load.url)
  hidePaths(load.url)
  setLoadRun(createRun(load.runId))
}

/** Evaluates the val's module as part of the run that waits for it. Never throws. */
export async function evaluateVal(load: Load): Promise<LoadedVal> {
  const run = openRun(load.runId)
  try {
    const module: Record<string, unknown> = await inRun(run, importModule, load.url)
    return { program: toProgram(module, load), error: undefined }
  } catch (thrown) {
    return { program: createBroken(thrown), error: toErrorText(thrown) }
  } finally {
    closeRun(run)
  }
}

function importModule(url: string): Promise<Record<string, unknown>> {
  return import(url)
}
