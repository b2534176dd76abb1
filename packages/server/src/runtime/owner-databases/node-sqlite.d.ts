// The part of Bun's node:sqlite that is used here. Bun has no types for it yet.
declare module "node:sqlite" {
  export type SQLInputValue = null | number | bigint | string | Uint8Array
  export type SQLOutputValue = null | number | bigint | string | Uint8Array

  export interface DatabaseOptions {
    readonly timeout?: number
    readonly enableForeignKeyConstraints?: boolean
    readonly enableDoubleQuotedStringLiterals?: boolean
    readonly allowExtension?: boolean
    readonly defensive?: boolean
    readonly limits?: Readonly<Record<string, number>>
  }

  export interface Column {
    readonly name: string
    /** The declared type, for a column of a table. */
    readonly type: string | null
  }

  export interface StatementResultingChanges {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }

  export class StatementSync {
    readonly sourceSQL: string
    all(...args: readonly unknown[]): unknown[]
    /** Rows one by one; arrays after `setReturnArrays(true)`. */
    iterate(
      named: Readonly<Record<string, SQLInputValue>>,
      ...others: readonly SQLInputValue[]
    ): Iterable<SQLOutputValue[]>
    run(
      named: Readonly<Record<string, SQLInputValue>>,
      ...others: readonly SQLInputValue[]
    ): StatementResultingChanges
    columns(): Column[]
    setAllowBareNamedParameters(isOn: boolean): void
    setReadBigInts(isOn: boolean): void
    setReturnArrays(isOn: boolean): void
  }

  export class DatabaseSync {
    constructor(path: string, options?: DatabaseOptions)
    readonly isTransaction: boolean
    exec(sql: string): void
    prepare(sql: string): StatementSync
    setAuthorizer(
      decide: (
        action: number,
        first: string | null,
        second: string | null,
        database: string | null,
        source: string | null,
      ) => number,
    ): void
    close(): void
  }

  /** Copies a database into a file, that many pages at a time. */
  export function backup(
    source: DatabaseSync,
    path: string,
    options?: { readonly rate?: number },
  ): Promise<number>

  /** The actions that an authorizer decides about, and its results. */
  export const constants: {
    readonly SQLITE_ALTER_TABLE: number
    readonly SQLITE_ANALYZE: number
    readonly SQLITE_ATTACH: number
    readonly SQLITE_CREATE_INDEX: number
    readonly SQLITE_CREATE_TABLE: number
    readonly SQLITE_CREATE_TEMP_INDEX: number
    readonly SQLITE_CREATE_TEMP_TABLE: number
    readonly SQLITE_CREATE_TEMP_TRIGGER: number
    readonly SQLITE_CREATE_TEMP_VIEW: number
    readonly SQLITE_CREATE_TRIGGER: number
    readonly SQLITE_CREATE_VIEW: number
    readonly SQLITE_CREATE_VTABLE: number
    readonly SQLITE_DELETE: number
    readonly SQLITE_DENY: number
    readonly SQLITE_DROP_INDEX: number
    readonly SQLITE_DROP_TABLE: number
    readonly SQLITE_DROP_TEMP_INDEX: number
    readonly SQLITE_DROP_TEMP_TABLE: number
    readonly SQLITE_DROP_TEMP_TRIGGER: number
    readonly SQLITE_DROP_TEMP_VIEW: number
    readonly SQLITE_DROP_TRIGGER: number
    readonly SQLITE_DROP_VIEW: number
    readonly SQLITE_DROP_VTABLE: number
    readonly SQLITE_FUNCTION: number
    readonly SQLITE_INSERT: number
    readonly SQLITE_OK: number
    readonly SQLITE_PRAGMA: number
    readonly SQLITE_READ: number
    readonly SQLITE_RECURSIVE: number
    readonly SQLITE_REINDEX: number
    readonly SQLITE_SAVEPOINT: number
    readonly SQLITE_SELECT: number
    readonly SQLITE_TRANSACTION: number
    readonly SQLITE_UPDATE: number
  }
}
