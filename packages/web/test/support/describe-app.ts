import { afterAll, beforeAll } from "bun:test"
import type { Browser } from "playwright-core"
import { type AppStage, openAppStage } from "../../dev/app-stage.ts"
import { describeInBrowser } from "./describe-in-browser.ts"
import { createProfiles, type Profiles } from "./profiles.ts"
import { type OpenApp, useSharedApp } from "./shared-app.ts"

/** What a suite of the app uses. It is available in hooks and tests, not in `describe`. */
export interface App extends Profiles {
  readonly stage: AppStage
}

/**
 * A suite of the app. It shares a server with other suites, and finds it without users and vals; with
 * settings it has a server of its own.
 */
export function describeApp(
  title: string,
  define: (app: App) => void,
  env?: Readonly<Record<string, string>>,
): void {
  describeInBrowser(`web app: ${title}`, (getBrowser) => {
    let opened: OpenApp | undefined
    const get = () => {
      if (!opened)
        throw new Error("Cannot use the server: it is started by the first hook of the suite")
      return opened
    }
    beforeAll(async () => {
      opened = await (env ? openOwnApp(getBrowser(), env) : useSharedApp(getBrowser()))
      // The first server of a checkout builds the app, which may take longer than a page is given.
      await fetch(opened.stage.url)
    })
    // Hooks run in the order of their definition: the tabs are closed first.
    afterAll(() => opened?.[Symbol.asyncDispose]())
    define({
      get stage() {
        return get().stage
      },
      open: (...args) => get().profiles.open(...args),
      openOwn: () => get().profiles.openOwn(),
      openTyped: () => get().profiles.openTyped(),
    })
  })
}

async function openOwnApp(
  browser: Browser,
  env: Readonly<Record<string, string>>,
): Promise<OpenApp> {
  const stage = await openAppStage(env)
  const { profiles } = createProfiles(browser, stage, { isShared: false })
  return { stage, profiles, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}
