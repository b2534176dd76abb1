/** The time, and new ids. */
export interface Clock {
  now(): number
  newId(): string
}
