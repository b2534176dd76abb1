import { createSpool, type Spool, type SpoolOptions } from "./spool.ts"

/**
 * Takes pieces as fast as they are produced, and yields them as slowly as they are read. A backup
 * reads in one transaction, for which the database keeps all data that is replaced meanwhile: a slow
 * client must not keep that transaction open.
 */
export async function* readAhead(
  pieces: AsyncGenerator<Uint8Array, void>,
  options: SpoolOptions,
): AsyncGenerator<Uint8Array, void> {
  const spool = createSpool(options)
  const filling = fill(pieces, spool)
  try {
    for (;;) {
      const piece = await spool.read()
      if (piece === undefined) return
      yield piece
    }
  } finally {
    spool.stop()
    await filling
    await spool.close()
  }
}

async function fill(pieces: AsyncGenerator<Uint8Array, void>, spool: Spool): Promise<void> {
  try {
    for await (const piece of pieces) {
      await spool.write(piece)
      if (spool.isStopped) break
    }
    spool.end(undefined)
  } catch (error) {
    spool.end(error)
  }
}
