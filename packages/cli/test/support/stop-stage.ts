// Preloaded by bunfig.toml: only a preloaded hook runs once, after the last test file.
import { afterAll } from "bun:test"
import { endCalls } from "./call.ts"
import { stopSharedStage } from "./shared-stage.ts"

afterAll(endCalls)
afterAll(stopSharedStage)
