import { beforeAll } from "bun:test"
import type { Stage } from "./stage.ts"

let opening: Promise<Stage> | undefined

/**
 * The server that all suites share: starting one takes longer than most tests. The first suite
 * starts it, and stop-stage.ts stops it after the last test file.
 */
export function useStage(): () => Stage {
  let stage: Stage | undefined
  beforeAll(async () => {
    // Imported late: every test run preloads this file, and few of them need a server.
    opening ??= import("./stage.ts").then(({ openStage }) => openStage())
    stage = await opening
  })
  return () => {
    if (!stage) throw new Error("Cannot use the server outside of a test")
    return stage
  }
}

/** Stops the server, if a suite has started it. */
export async function stopSharedStage(): Promise<void> {
  const stage = await opening
  opening = undefined
  await stage?.[Symbol.asyncDispose]()
}
