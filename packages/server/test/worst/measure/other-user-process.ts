import type { Subprocess } from "bun"
import type { OtherUserSettings, OtherUserWindow } from "./other-user-window.ts"

/** The other user: a program that acts until it is stopped. */
export class OtherUserProcess implements AsyncDisposable {
  readonly #child: Subprocess
  #answer: ((window: OtherUserWindow) => void) | undefined

  constructor(settings: OtherUserSettings) {
    const program = new URL("./other-user.ts", import.meta.url).pathname
    this.#child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (window: OtherUserWindow) => this.#answer?.(window),
    })
  }

  /** What it saw since the last call. */
  async next(): Promise<OtherUserWindow> {
    const { promise, resolve, reject } = Promise.withResolvers<OtherUserWindow>()
    this.#answer = resolve
    void this.#child.exited.then(() => reject(new Error("The program of the other user has ended")))
    this.#child.send("next")
    return await promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.send("stop")
    await this.#child.exited
  }
}
