/** Stores the bytes of objects. The list of objects is always in the database. */
export interface ContentStore {
  write(id: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  read(id: string, start: number, end: number): AsyncGenerator<Uint8Array, void>
  /** Deletes a part of the content; false when nothing is left. */
  remove(id: string): Promise<boolean>
}
