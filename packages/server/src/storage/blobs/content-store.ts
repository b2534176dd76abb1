/** Where the bytes of objects are; which objects there are is always in the database. */
export interface ContentPlace {
  write(id: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  read(id: string, start: number, end: number): AsyncGenerator<Uint8Array, void>
  /** Deletes a part of it; false when nothing is left. */
  remove(id: string): Promise<boolean>
}
