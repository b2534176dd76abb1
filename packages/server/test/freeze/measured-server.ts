// The program of the server that is measured.
import { loopDelayLimits } from "@hamlet/kit"
import { longPause } from "./loop-meter.ts"

// A pause appears shorter by up to the time between two samples.
loopDelayLimits.sampleMs = 20

process.on(longPause.signal, () => {
  const before = process.threadCpuUsage()
  for (let cpuMs = 0; cpuMs < longPause.cpuMs; ) {
    const { user, system } = process.threadCpuUsage(before)
    cpuMs = (user + system) / 1_000
  }
})

await import("../../src/main.ts")
