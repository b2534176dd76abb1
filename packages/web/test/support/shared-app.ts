import type { Browser } from "playwright-core"
import type { AppStage } from "../../dev/app-stage.ts"
import type { createProfiles, Profiles } from "./profiles.ts"

/** A server, and tabs that show its app. */
export interface OpenApp extends AsyncDisposable {
  readonly stage: AppStage
  readonly profiles: Profiles
}

/** Vals have mail addresses. Nothing listens where mail is sent to, so that it waits. */
const settings = {
  HAMLET_MAIL_DOMAIN: "vals.example.com",
  HAMLET_SMTP_PORT: "0",
  HAMLET_SMTP_URL: "smtp://127.0.0.1:9",
}

let opening: Promise<AppStage> | undefined
let shared: ReturnType<typeof createProfiles> | undefined

/**
 * The server and the profiles that suites without settings of their own share: a new server and a
 * browser that has not loaded the app take seconds of CPU time. Disposing of it removes what a suite
 * has left.
 */
export async function useSharedApp(browser: Browser): Promise<OpenApp> {
  const stage = await useSharedStage()
  if (shared?.browser !== browser) {
    const { createProfiles } = await import("./profiles.ts")
    shared = createProfiles(browser, stage, { isShared: true })
  }
  const { profiles, renew } = shared
  return {
    stage,
    profiles,
    async [Symbol.asyncDispose]() {
      await renew()
      await emptyStage(stage)
    },
  }
}

/** The shared server. The first suite starts it, and stop-browser.ts stops it after the last one. */
export async function useSharedStage(): Promise<AppStage> {
  // Imported late: every test run preloads this file, and few of them need a server.
  opening ??= import("../../dev/app-stage.ts").then(({ openAppStage }) => openAppStage(settings))
  return await opening
}

/** Stops the server, if a suite has started it. */
export async function stopSharedStage(): Promise<void> {
  const stage = await opening
  opening = undefined
  await stage?.[Symbol.asyncDispose]()
}

/** Deletes all users but the first one, all organisations, and the vals and sessions of that one. */
export async function emptyStage({ admin: { client } }: AppStage): Promise<void> {
  const { id } = await client.getMe()
  await client.deleteAllSessions()
  for (const val of await Array.fromAsync(client.items("listMyVals")))
    await client.deleteVal({ val_id: val.id })
  const users = await Array.fromAsync(client.items("listUsers"))
  // The last owner of an organisation cannot be deleted before it.
  for (const user of users.filter(({ type }) => type === "org"))
    await client.deleteUser({ user_id: user.id, data: "delete" })
  for (const user of users.filter(({ type }) => type !== "org"))
    if (user.id !== id) await client.deleteUser({ user_id: user.id, data: "delete" })
}
