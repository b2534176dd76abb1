import { setLogLimit } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { nameModulesBelow } from "../errors/stack-text.ts"
import { setOwnVersion } from "../files/file-addresses.ts"
import { hidePaths } from "../globals/process-guard.ts"
import { PromiseCtor, stringIndexOf, stringSlice } from "../primordials.ts"
import type { ErrorText, Load } from "../protocol.ts"
import { failCurrentRun } from "../runs/failures.ts"
import { closeRun, createRun, inRun, openRun, setLoadRun } from "../runs/runs.ts"
import { whenListening } from "../servers/listener.ts"
import { startServers } from "../servers/start-servers.ts"
import { createFailedProgram, type Program, toProgram } from "./program.ts"

export interface LoadedVal {
  readonly program: Program
  /** Why the module could not be loaded. */
  readonly error: ErrorText | undefined
}

/** Prepares the process for the val, before its module is there. */
export function prepareForVal(load: Load): void {
  setLogLimit(load.limits.logBytesMax)
  const rootEnd = stringIndexOf(load.url, `/v/${load.label}@`) + "/v/".length
  nameModulesBelow(stringSlice(load.url, 0, rootEnd))
  hidePaths(load.url)
  setOwnVersion(load.url)
  setLoadRun(createRun(load.runId))
}

/** Evaluates the val's module in the run that waits for it. Never throws. */
export async function evaluateVal(load: Load): Promise<LoadedVal> {
  const run = openRun(load.runId)
  try {
    const module = await inRun(run, load.isHttp ? importServer : importModule, load.url)
    if (load.isHttp) await inRun(run, startServers, module)
    return { program: toProgram(module, load), error: undefined }
  } catch (thrown) {
    return { program: createFailedProgram(thrown), error: toErrorText(thrown) }
  } finally {
    closeRun(run)
  }
}

type Module = Readonly<Record<string, unknown>>

function importModule(url: string): Promise<Module> {
  return import(url)
}

/** The module of an http val may wait until the server that it has started ends. */
function importServer(url: string): Promise<Module> {
  return new PromiseCtor((resolve, reject) => {
    let isServing = false
    const load = async () => {
      try {
        resolve(await importModule(url))
      } catch (thrown) {
        if (isServing) failCurrentRun(thrown)
        else reject(thrown)
      }
    }
    const serve = async () => {
      await whenListening()
      isServing = true
      resolve({})
    }
    void load()
    void serve()
  })
}
