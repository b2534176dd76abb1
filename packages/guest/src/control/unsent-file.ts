import { bytesSubarray, encodeText } from "../primordials.ts"

export type UnsentFile = ReturnType<typeof createUnsentFile>

/**
 * Creates the file for messages that wait until the event loop can send them: a val that never
 * returns to it is killed, and the host reads the rest here. The first line is the number of the
 * first message. Called while that is still allowed.
 */
export function createUnsentFile(path: string) {
  const file = Deno.openSync(path, { write: true, createNew: true })
  const writeSync = file.writeSync.bind(file)
  const truncateSync = file.truncateSync.bind(file)
  const seekSync = file.seekSync.bind(file)
  const start = Deno.SeekMode.Start
  const add = (text: string): void => {
    try {
      const bytes = encodeText(text)
      for (let done = 0; done < bytes.length; )
        done += writeSync(done === 0 ? bytes : bytesSubarray(bytes, done))
    } catch {
      // The disk is full. The messages are still sent if the event loop gets to it.
    }
  }
  return {
    /** Replaces the content. */
    begin(firstNumber: number, lines: string): void {
      truncateSync(0)
      seekSync(0, start)
      add(`${firstNumber}\n${lines}`)
    },
    add,
  }
}
