import { setLogLimit } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { nameModulesBeside } from "../errors/stack-text.ts"
import { hidePaths } from "../globals/process-guard.ts"
import type { ErrorText, Load } from "../protocol.ts"
import { closeRun, createRun, inRun, openRun, setLoadRun } from "../runs/runs.ts"
import { createFailedProgram, type Program, toProgram } from "./program.ts"

export interface LoadedVal {
  readonly program: Program
  /** Why the module could not be loaded. */
  readonly error: ErrorText | undefined
}

/** Prepares the process for the val, before its module is there. */
export function prepareForVal(load: Load): void {
  setLogLimit(load.limits.logBytesMax)
  nameModulesBeside(load.url)
  hidePaths(load.url)
  setLoadRun(createRun(load.runId))
}

/** Evaluates the val's module in the run that waits for it. Never throws. */
export async function evaluateVal(load: Load): Promise<LoadedVal> {
  const run = openRun(load.runId)
  try {
    const module: Record<string, unknown> = await inRun(run, importModule, load.url)
    return { program: toProgram(module, load), error: undefined }
  } catch (thrown) {
    return { program: createFailedProgram(thrown), error: toErrorText(thrown) }
  } finally {
    closeRun(run)
  }
}

function importModule(url: string): Promise<Record<string, unknown>> {
  return import(url)
}
