import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { GuestProcess } from "./guest-process.ts"

const isLinux = process.platform === "linux"

test.if(isLinux)("isRunnable is true when any thread of the process wants the CPU", async () => {
  await using waiting = Bun.spawn(["sleep", "60"])
  await using looping = Bun.spawn(["sh", "-c", "while :; do :; done"])
  const inWorker = `new Worker("data:text/javascript,for(;;){}"); setInterval(() => {}, 1000)`
  await using threaded = Bun.spawn([process.execPath, "-e", inWorker])
  const isRunnable = (pid: number) => GuestProcess.find(pid)?.isRunnable()
  const states = () => [looping, threaded, waiting].map(({ pid }) => isRunnable(pid))
  await waitUntil(() => Bun.deepEquals(states(), [true, true, false]), { seen: states })
})

test.if(isLinux)(
  "readOwnBytes counts the memory of a process without the program that it shares with others",
  async () => {
    const filledBytes = 100 * 1024 ** 2
    // A process that does nothing else: the tests' own process may free memory at any time.
    const fill = `globalThis.filled = new Uint8Array(${filledBytes}).fill(1)`
    const keep = `setInterval(() => filled.fill(1), 1000)`
    await using child = Bun.spawn([process.execPath, "-e", `${fill}; ${keep}`])
    const own = GuestProcess.find(child.pid)
    await waitUntil(() => (own?.readOwnBytes() ?? 0) > filledBytes)
    expect(own?.readOwnBytes()).toBeLessThan(own?.readUsage()?.memoryBytes ?? 0)
  },
)
