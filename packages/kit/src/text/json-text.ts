/**
 * A value that was checked and is passed on as JSON, because nothing on the way looks into it and
 * there may be a lot of it.
 */
export interface JsonText {
  readonly json: string
}

/** Whether it is the text of a value, as against the value. */
export function isJsonText(value: object): value is JsonText {
  return "json" in value
}
