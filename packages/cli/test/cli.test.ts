import { afterAll, beforeAll, describe } from "bun:test"
import { defineAccount } from "./suites/account.ts"
import { defineAdministration } from "./suites/administration.ts"
import { defineArchives } from "./suites/archives.ts"
import { defineBackup } from "./suites/backup.ts"
import { defineComments } from "./suites/comments.ts"
import { defineCompletion } from "./suites/completion.ts"
import { defineDoctor } from "./suites/doctor.ts"
import { defineFailures } from "./suites/failures.ts"
import { defineFiles } from "./suites/files.ts"
import { defineHelp } from "./suites/help.ts"
import { defineRuns } from "./suites/runs.ts"
import { defineServe } from "./suites/serve.ts"
import { defineSettings } from "./suites/settings.ts"
import { defineTerminal } from "./suites/terminal.ts"
import { defineVals } from "./suites/vals.ts"
import { defineVersions } from "./suites/versions.ts"
import { defineWatch } from "./suites/watch.ts"
import { defineWatchModel } from "./suites/watch-model.ts"
import { defineWatchReadme } from "./suites/watch-readme.ts"
import { openStage, type Stage } from "./support/stage.ts"

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

// One server for all of them: starting one takes longer than most of what is asked of it.
describe("login, whoami, server", () => defineAccount(() => stage))
describe("secret, token, user", () => defineSettings(() => stage))
describe("user, invite, blob, sql, session", () => defineAdministration(() => stage))
describe("val", () => defineVals(() => stage))
describe("val push, pull, clone", () => defineFiles(() => stage))
describe("val watch", () => defineWatch(() => stage))
describe("val watch, readmes", () => defineWatchReadme(() => stage))
describe("val watch, at random", () => defineWatchModel(() => stage))
describe("version", () => defineVersions(() => stage))
describe("run, logs", () => defineRuns(() => stage))
describe("failures", () => defineFailures(() => stage))
describe("at a terminal", () => defineTerminal(() => stage))
describe("help", () => defineHelp(() => stage))
describe("completion", () => defineCompletion(() => stage))
describe("val comment, usage", () => defineComments(() => stage))
describe("backup, restore", () => defineBackup(() => stage))
describe("export, import", () => defineArchives(() => stage))
describe("doctor", () => defineDoctor(() => stage))
describe("serve", () => defineServe(() => stage))
