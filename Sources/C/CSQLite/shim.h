#pragma once
#include <sqlite3.h>

// sqlite3_db_config() is variadic, which Swift does not import. For options that are on or off.
static inline int CSQLite_db_config(sqlite3 *connection, int option, int isOn) {
    return sqlite3_db_config(connection, option, isOn, (int *)0);
}

// SQLite copies the text. SQLITE_TRANSIENT casts -1 to a function pointer, which Swift does not import.
static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const unsigned char *text, int count) {
    return sqlite3_bind_text(statement, index, (const char *)text, count, SQLITE_TRANSIENT);
}
