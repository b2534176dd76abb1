// Preloaded by bunfig.toml: only a preloaded hook runs once, after the last test file.
import { afterAll } from "bun:test"
import { endPrograms } from "../../../../scripts/testing/program-calls.ts"
import { stopSharedStage } from "./shared-stage.ts"

afterAll(endPrograms)
afterAll(stopSharedStage)
