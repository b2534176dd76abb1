// Preloaded by bunfig.toml: only a preloaded hook runs once, after the last test file.
import { afterAll } from "bun:test"
import { stopSharedStage } from "./shared-app.ts"
import { stopSharedBrowser } from "./shared-browser.ts"

afterAll(stopSharedBrowser)
afterAll(stopSharedStage)
