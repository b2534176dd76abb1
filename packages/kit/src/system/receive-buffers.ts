import { ptr } from "bun:ffi"
import { readlinkSync } from "node:fs"
import { openCLibrary } from "./c-library.ts"
import { tryList } from "./try-read.ts"

/** Numbers of the kernel, which x86_64 and arm64 share. */
const kernel = { socketLevel: 1, receiveBuffer: 8, acceptsConnections: 30, intBytes: 4 }

const system = openCLibrary({
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
})

/**
 * Limits what the kernel receives of each connection that is accepted from now on, at every socket
 * at which this process listens. The runtime reads a connection until it is empty and parses what it
 * has read in one piece, outside of JavaScript: six megabytes of one-byte chunks, which the kernel
 * would take otherwise, block the event loop for 100 ms, times the number of such connections.
 * Returns how many sockets it has found; 0 outside of Linux, where the limit is the system's.
 */
export function limitReceiveBuffers(bytes: number): number {
  if (!system) return 0
  const listening = tryList("/proc/self/fd").map(Number).filter(isListening)
  const value = new Int32Array([bytes])
  for (const file of listening)
    system.setsockopt(file, kernel.socketLevel, kernel.receiveBuffer, ptr(value), kernel.intBytes)
  return listening.length
}

function isListening(file: number): boolean {
  if (!isSocket(file)) return false
  const value = new Int32Array(1)
  const length = new Int32Array([kernel.intBytes])
  const { socketLevel, acceptsConnections } = kernel
  const result = system?.getsockopt(file, socketLevel, acceptsConnections, ptr(value), ptr(length))
  return result === 0 && value[0] === 1
}

function isSocket(file: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${file}`).startsWith("socket:")
  } catch {
    return false
  }
}
