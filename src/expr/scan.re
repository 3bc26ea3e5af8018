/* The scanner of expressions: text to tokens, all at once, because a syntax error shows the tokens on both sides. */
#include "expr/expr_internal.h"
#include "expr/grammar.h"

/* Whatever belongs to no token is a token of one character, which no rule of the grammar takes: that is how DynamoDB comes to
   say `token: "_", near: "SET _123"`. An index has no leading zeros, a name begins with a letter (reference section 1). */
uint32_t expr_scan(const char *text, size_t length, struct expr_token *tokens)
{
    const unsigned char *begin = (const unsigned char *)text;
    const unsigned char *YYCURSOR = begin;
    const unsigned char *YYLIMIT = begin + length;
    const unsigned char *YYMARKER;
    uint32_t count = 0;
    for (;;) {
        const unsigned char *start = YYCURSOR;
        unsigned kind;
        /*!re2c
        re2c:define:YYCTYPE = "unsigned char";
        re2c:yyfill:enable = 0;
        re2c:eof = 0;

        letter = [A-Za-z];
        part = [A-Za-z0-9_];

        [ \t\r\n]+ { continue; }
        'AND'      { kind = TOKEN_AND; goto found; }
        'OR'       { kind = TOKEN_OR; goto found; }
        'NOT'      { kind = TOKEN_NOT; goto found; }
        'BETWEEN'  { kind = TOKEN_BETWEEN; goto found; }
        'IN'       { kind = TOKEN_IN; goto found; }
        'SET'      { kind = TOKEN_SET; goto found; }
        'REMOVE'   { kind = TOKEN_REMOVE; goto found; }
        'ADD'      { kind = TOKEN_ADD; goto found; }
        'DELETE'   { kind = TOKEN_DELETE; goto found; }
        letter part* { kind = TOKEN_NAME; goto found; }
        "#" part+  { kind = TOKEN_NAME_PLACEHOLDER; goto found; }
        ":" part+  { kind = TOKEN_VALUE; goto found; }
        "0" | [1-9][0-9]* { kind = TOKEN_INDEX; goto found; }
        "="        { kind = TOKEN_EQUAL; goto found; }
        "<>"       { kind = TOKEN_NOT_EQUAL; goto found; }
        "<"        { kind = TOKEN_LESS; goto found; }
        "<="       { kind = TOKEN_LESS_EQUAL; goto found; }
        ">"        { kind = TOKEN_GREATER; goto found; }
        ">="       { kind = TOKEN_GREATER_EQUAL; goto found; }
        "("        { kind = TOKEN_OPEN; goto found; }
        ")"        { kind = TOKEN_CLOSE; goto found; }
        "["        { kind = TOKEN_OPEN_INDEX; goto found; }
        "]"        { kind = TOKEN_CLOSE_INDEX; goto found; }
        ","        { kind = TOKEN_COMMA; goto found; }
        "."        { kind = TOKEN_DOT; goto found; }
        "+"        { kind = TOKEN_PLUS; goto found; }
        "-"        { kind = TOKEN_MINUS; goto found; }
        [\xc0-\xff][\x80-\xbf]* { kind = TOKEN_STRAY; goto found; }
        *          { kind = TOKEN_STRAY; goto found; }
        $          { break; }
        */
    found:
        tokens[count++] = (struct expr_token){
            .kind = (uint8_t)kind,
            .start = (uint16_t)(start - begin),
            .end = (uint16_t)(YYCURSOR - begin),
            .entry = EXPR_NO_ENTRY,
        };
    }
    tokens[count] = (struct expr_token){.kind = 0, .start = (uint16_t)length, .end = (uint16_t)length, .entry = EXPR_NO_ENTRY};
    return count;
}
