// What statements may use beside tables and columns. Everything else is refused, so that a newer
// SQLite adds nothing by accident.

/** The functions that have no access outside of the database, nor to the memory of the process. */
export const allowedFunctions: ReadonlySet<string> = new Set(
  [
    "abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians round",
    "sign sin sinh sqrt tan tanh trunc random randomblob zeroblob",
    "char concat concat_ws format glob hex instr length like lower ltrim match octet_length printf quote replace rtrim subtype substr",
    "substring trim typeof unhex unicode unistr unistr_quote upper",
    "coalesce if ifnull iif likelihood likely max min nullif unlikely changes last_insert_rowid total_changes",
    "current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch",
    "avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total",
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number",
    "-> ->> json json_array json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object",
    "json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid",
    "jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch",
    "jsonb_remove jsonb_replace jsonb_set",
    "bm25 fts5_get_locale fts5_insttoken fts5_locale fts5_source_id highlight snippet",
    "sqlite_compileoption_get sqlite_compileoption_used sqlite_source_id sqlite_version",
    // SQLite calls these itself to alter tables. Statements cannot.
    "sqlite_add_constraint sqlite_drop_column sqlite_drop_constraint sqlite_fail sqlite_find_constraint sqlite_rename_column",
    "sqlite_rename_quotefix sqlite_rename_table sqlite_rename_test",
  ].flatMap((line) => line.split(" ")),
)

/**
 * The virtual tables that statements may create. The older full-text searches are left out: they
 * offer nothing more, and have had more bugs.
 */
export const allowedModules: ReadonlySet<string> = new Set([
  "fts5",
  "fts5vocab",
  "rtree",
  "rtree_i32",
])

/** Built-in tables that show more than the data of the owner. */
export const refusedTables: ReadonlySet<string> = new Set([
  "bytecode",
  "completion",
  "dbstat",
  "fts3tokenize",
  "sqlite_dbpage",
  "sqlite_stmt",
  "tables_used",
])

/**
 * How a pragma may be used: to `ask`, with or without an argument; to `read` a setting; to `set` a
 * setting that is stored in the database.
 */
type PragmaUse = "ask" | "read" | "set" | "set_on" | "set_in_batch"

/** The pragmas that read the database, and the few whose changes affect only its owner. */
export const allowedPragmas: ReadonlyMap<string, PragmaUse> = new Map([
  ...uses(
    "ask",
    "collation_list compile_options foreign_key_check foreign_key_list function_list index_info index_list index_xinfo integrity_check",
  ),
  ...uses("ask", "module_list pragma_list quick_check table_info table_list table_xinfo"),
  ...uses(
    "read",
    "auto_vacuum data_version encoding freelist_count journal_mode max_page_count page_count page_size",
  ),
  ...uses("read", "recursive_triggers schema_version synchronous"),
  ...uses("set", "application_id user_version"),
  // Foreign keys are on already, and programs switch them on anyway. Switching them off would
  // affect later requests too.
  ...uses("set_on", "foreign_keys"),
  // Deferring ends with the transaction.
  ...uses("set_in_batch", "defer_foreign_keys"),
])

function uses(use: PragmaUse, names: string): [string, PragmaUse][] {
  return names.split(" ").map((name) => [name, use])
}
