/**
 * The only code that migrations share. It is frozen: a change of a value here would change the base
 * and migrations that have landed. A new type gets a new name.
 */
export interface Ddl {
  /** Column types. */
  readonly types: ColumnTypes
  /** The text after the closing parenthesis of a `create table`. */
  readonly tableOptions: string
  /** Picks the statements of this database where the two need different ones. */
  choose<Statements>(options: {
    readonly sqlite: Statements
    readonly postgres: Statements
  }): Statements
}

export interface ColumnTypes {
  readonly id: string
  readonly time: string
  readonly integer: string
  readonly text: string
  readonly bytes: string
  /** The whole definition of a primary key that the database numbers itself. */
  readonly identity: string
}

export const sqliteDdl: Ddl = {
  types: {
    id: "text",
    time: "integer",
    integer: "integer",
    text: "text",
    bytes: "blob",
    identity: "integer primary key autoincrement",
  },
  tableOptions: "strict",
  choose: ({ sqlite }) => sqlite,
}

export const postgresDdl: Ddl = {
  // Collation "C" orders text by its UTF-8 bytes, as SQLite does, whatever the locale of the
  // database is.
  types: {
    id: "uuid",
    time: "bigint",
    integer: "integer",
    text: 'text collate "C"',
    bytes: "bytea",
    identity: "bigint generated always as identity primary key",
  },
  tableOptions: "",
  choose: ({ postgres }) => postgres,
}
