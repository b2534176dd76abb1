import { sendTail } from "../control/outbox.ts"
import {
  bare,
  ReadableStreamCtor,
  ResponseCtor,
  readerCancel,
  readerRead,
  responseBody,
  responseHeaders,
  responseStatus,
  responseStatusText,
  streamReader,
  TypeErrorCtor,
} from "../primordials.ts"
import { failRun } from "../runs/failures.ts"
import { closeRun, inRun, type Run } from "../runs/runs.ts"

const Bytes = Uint8Array

/**
 * Wraps the stream of a response in its run: what the stream logs belongs to the run, and the run
 * fails if it throws. Deno alone would break the connection and report nothing.
 */
export function watchBody(run: Run, response: Response): Response {
  const body = responseBody(response)
  if (body === null) return response
  const reader = streamReader(body)
  const watched = new ReadableStreamCtor<Uint8Array>(
    bare({
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) =>
        inRun(run, () => pump(run, reader, controller), undefined),
      cancel: (reason: unknown) => inRun(run, () => cancel(run, reader, reason), undefined),
    }),
    // Nothing is read ahead: the val is asked only for what the client takes.
    bare({ highWaterMark: 0 }),
  )
  run.end = undefined
  const status = responseStatus(response)
  return new ResponseCtor(
    watched,
    bare({ status, statusText: responseStatusText(response), headers: responseHeaders(response) }),
  )
}

type Reader = ReadableStreamDefaultReader<unknown>

async function pump(
  run: Run,
  reader: Reader,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  try {
    const read = await readerRead(reader)
    // The client has gone meanwhile: nothing is left to send, and nothing has failed.
    if (!run.isActive) return
    if (read.done) {
      sendTail(run)
      closeRun(run)
      controller.close()
      return
    }
    if (!(read.value instanceof Bytes))
      throw new TypeErrorCtor(
        `Cannot send a chunk of a body: it is a ${typeof read.value}, not a Uint8Array`,
      )
    controller.enqueue(read.value)
  } catch (thrown) {
    failRun(run, thrown)
    closeRun(run)
    controller.error(thrown)
  }
}

async function cancel(run: Run, reader: Reader, reason: unknown): Promise<void> {
  closeRun(run)
  try {
    await readerCancel(reader, reason)
  } catch (thrown) {
    failRun(run, thrown)
  }
}
