// The accepted subset of PostgreSQL's SQL and PL/pgSQL. What is not in it is a syntax error, which
// procedures/syntax_error.cc turns into a sentence about the construct that the text most likely began.
parser grammar MnemeParser;
options { tokenVocab = MnemeLexer; }

@parser::members {
// Says whether INTERVAL '...' stands before the next word, and that word names fields, as in INTERVAL '1' YEAR.
bool is_interval_field() {
  const auto is_word = [](const std::string& text, const char* word) {
    size_t i = 0;
    for (; i < text.size() && word[i] != '\0'; ++i) {
      if ((text[i] | 0x20) != word[i]) return false;
    }
    return i == text.size() && word[i] == '\0';
  };
  if (_input->index() < 2 || !is_word(_input->LT(-2)->getText(), "interval")) return false;
  const std::string next = _input->LT(1)->getText();
  for (const char* field : {"year", "month", "day", "hour", "minute", "second"}) {
    if (is_word(next, field)) return true;
  }
  return false;
}
}

file : fileItem (SEMICOLON fileItem)* SEMICOLON? EOF ;

// A data directory's file has DROP SEQUENCE, too.
fileItem : definition | drop | comment ;

definition
  : createTable | createTableAs | createIndex | createProcedure | alterTable | alterIndex | createSequence | alterSequence | createView ;

// One statement of an SQL session

command
  : (query | insert | update | deleteRows | merge | callProcedure | alterRoutine | definition | drop | truncate | comment | transactionControl | doBlock)
    SEMICOLON? EOF ;

comment : COMMENT ON commented IS (STRING | ESCAPED_STRING | NULL_) ;

// Of the other objects that PostgreSQL has, as SCHEMA and EXTENSION, the word is an identifier.
commented
  : (TABLE | INDEX | VIEW | SEQUENCE) relation
  | COLUMN name (DOT name (DOT name)?)?
  | (FUNCTION | PROCEDURE | ROUTINE) relation parameterTypes?
  | CONSTRAINT name ON relation
  | IDENTIFIER VIEW? relation ;

doBlock : DO doLanguage? DOLLAR_QUOTE block SEMICOLON? DOLLAR_QUOTE doLanguage? ;

doLanguage : LANGUAGE (name | STRING) ;

callProcedure : CALL relation LPAREN (argument (COMMA argument)*)? RPAREN ;

argument : (name (ARROW | ASSIGN))? expression ;

drop
  : DROP (TABLE | INDEX CONCURRENTLY? | PROCEDURE | FUNCTION | ROUTINE | SEQUENCE | VIEW) (IF EXISTS)? relation parameterTypes? (COMMA relation parameterTypes?)*
    (CASCADE | RESTRICT)? ;

parameterTypes : LPAREN (parameterType (COMMA parameterType)*)? RPAREN ;

parameterType : (IN_ | INOUT | OUT_)? name? typeName ;

// RESTART IDENTITY or CONTINUE IDENTITY
truncate
  : TRUNCATE TABLE? ONLY? relation (COMMA ONLY? relation)* ((CONTINUE | IDENTIFIER) IDENTIFIER)? (CASCADE | RESTRICT)? ;

alterTable : ALTER TABLE (IF EXISTS)? ONLY? relation alterAction (COMMA alterAction)* ;

// TYPE, SET DATA TYPE, OWNER and RENAME are words that the lexer has no token for.
alterAction
  : ADD tableConstraint                                         # addConstraint
  | ADD COLUMN? ifNotExists? column                             # addColumn
  | DROP COLUMN? ifExists? name (CASCADE | RESTRICT)?           # dropColumn
  | DROP CONSTRAINT ifExists? name (CASCADE | RESTRICT)?        # dropConstraint
  | ALTER COLUMN? name SET DEFAULT concatenation                # setDefault
  | ALTER COLUMN? name DROP DEFAULT                             # dropDefault
  | ALTER COLUMN? name (SET | DROP) NOT NULL_                   # setNotNull
  | ALTER COLUMN? name (SET IDENTIFIER)? IDENTIFIER typeName (USING expression)?  # alterType
  | IDENTIFIER TO name                                          # renameTo
  | IDENTIFIER CONSTRAINT name TO name                          # renameConstraint
  | IDENTIFIER COLUMN? name TO name                             # renameColumn
  ;

// RENAME TO
alterRoutine : ALTER (PROCEDURE | FUNCTION | ROUTINE) relation parameterTypes? IDENTIFIER TO name ;

alterIndex : ALTER INDEX (IF EXISTS)? relation IDENTIFIER TO name ;

createSequence : CREATE SEQUENCE (IF NOT EXISTS)? relation sequenceOptions? ;

alterSequence : ALTER SEQUENCE (IF EXISTS)? relation (IDENTIFIER TO name | sequenceOptions) ;

// AS type, INCREMENT BY n, MINVALUE n, NO MINVALUE, START WITH n, RESTART, CACHE n, CYCLE, OWNED BY table.column ...
sequenceOptions : (AS | BY | WITH | PLUS | MINUS | INTEGER | DOT | name)+ ;

createView : CREATE (OR REPLACE)? VIEW relation nameList? AS query ;

ifNotExists : IF NOT EXISTS ;

ifExists : IF EXISTS ;

transactionControl
  : (BEGIN (TRANSACTION | WORK)? | START TRANSACTION) transactionMode*
  | (COMMIT | END | ROLLBACK | ABORT) (TRANSACTION | WORK)?
  | SAVEPOINT name
  | RELEASE SAVEPOINT? name
  | ROLLBACK (TRANSACTION | WORK)? TO SAVEPOINT? name ;

// ISOLATION LEVEL SERIALIZABLE, READ ONLY, NOT DEFERRABLE, ...: none of these words is reserved, but for ONLY and NOT.
transactionMode : IDENTIFIER | ONLY | NOT | COMMA ;

wholeExpression : expression EOF ;

// Tables and indexes

createTable
  : CREATE TABLE (IF NOT EXISTS)? relation LPAREN tableElement (COMMA tableElement)* RPAREN storage? ;

// The words at the end: WITH DATA, WITH NO DATA.
createTableAs
  : CREATE TABLE (IF NOT EXISTS)? relation nameList? storage? AS query (WITH IDENTIFIER IDENTIFIER?)? ;

storage : WITH LPAREN name EQUAL (INTEGER | STRING | name) (COMMA name EQUAL (INTEGER | STRING | name))* RPAREN ;

tableElement : tableConstraint | column | likeTable ;

// INCLUDING DEFAULTS, EXCLUDING CONSTRAINTS, INCLUDING ALL ...
likeTable : LIKE relation (IDENTIFIER (ALL | GENERATED | IDENTIFIER))* ;

column : name typeName columnConstraint* ;

columnConstraint
  : (CONSTRAINT name)? NOT NULL_     # notNull
  | (CONSTRAINT name)? NULL_         # nullable
  | (CONSTRAINT name)? PRIMARY KEY   # primaryKey
  | (CONSTRAINT name)? UNIQUE        # uniqueColumn
  | (CONSTRAINT name)? check         # checkColumn
  | (CONSTRAINT name)? references    # referencesColumn
  | COLLATE QUOTED_IDENTIFIER        # collation
  | DEFAULT concatenation            # defaultValue
  // GENERATED BY DEFAULT AS IDENTITY
  | GENERATED (IDENTIFIER | BY DEFAULT) AS IDENTIFIER (LPAREN sequenceOptions RPAREN)?  # identity
  ;

tableConstraint
  : (CONSTRAINT name)? PRIMARY KEY nameList  # tablePrimaryKey
  | (CONSTRAINT name)? UNIQUE nameList       # tableUnique
  | (CONSTRAINT name)? check                 # tableCheck
  | (CONSTRAINT name)? FOREIGN KEY nameList references  # tableForeignKey
  ;

references : REFERENCES relation nameList? referenceClause* ;

// Further: MATCH SIMPLE, [NOT] DEFERRABLE, INITIALLY IMMEDIATE.
referenceClause
  : ON (DELETE_ | UPDATE) referenceAction
  | NOT? IDENTIFIER (IDENTIFIER | FULL)?
  ;

referenceAction : IDENTIFIER IDENTIFIER | RESTRICT | CASCADE | SET (NULL_ | DEFAULT) ;

check : CHECK_ LPAREN expression RPAREN ;

nameList : LPAREN name (COMMA name)* RPAREN ;

// A table, index or procedure, perhaps with its schema, of which there is one: public.
relation : (name DOT)? name ;

// Without columns it is a list of the table's rows, for a table without a primary key: ours alone.
createIndex
  : CREATE UNIQUE? INDEX CONCURRENTLY? ((IF NOT EXISTS)? name)? ON ONLY? relation (USING name)?
    LPAREN (indexColumn (COMMA indexColumn)*)? RPAREN ;

// A class of operators; and two words: NULLS FIRST or NULLS LAST.
indexColumn : name (IDENTIFIER DOT)? IDENTIFIER? (ASC | DESC)? (IDENTIFIER IDENTIFIER)? ;

// Types

typeName : name DOT name PERCENT name  # columnType
         | name PERCENT name  # rowType
         | baseType (LBRACKET RBRACKET)?  # plainType
         ;

baseType : (DOUBLE_ PRECISION | CHARACTER VARYING? | TIMESTAMP | (name DOT)? name) modifiers? ((WITH | WITHOUT) TIME ZONE)? ;

modifiers : LPAREN INTEGER (COMMA INTEGER)? RPAREN ;

// Procedures

createProcedure
  : CREATE (OR REPLACE)? (PROCEDURE | FUNCTION) relation LPAREN (parameter (COMMA parameter)*)? RPAREN
    (RETURNS typeName)? procedureClause* ;

parameter : (IN_ | INOUT | OUT_)? name? typeName ((DEFAULT | EQUAL) expression)? ;

// Attributes: IMMUTABLE, STRICT, CALLED ON NULL INPUT, RETURNS NULL ON NULL INPUT, SECURITY INVOKER, PARALLEL SAFE, COST 1, NOT LEAKPROOF.
procedureClause
  : LANGUAGE (name | STRING)                       # languageClause
  | AS DOLLAR_QUOTE (block | sqlBody) SEMICOLON? DOLLAR_QUOTE  # bodyClause
  | RETURN expression                              # returnClause
  | STRICT                                         # strictClause
  | RETURNS NULL_ ON NULL_ IDENTIFIER              # strictClause
  | IDENTIFIER ON NULL_ IDENTIFIER                 # attributeClause
  | NOT? IDENTIFIER (IDENTIFIER | INTEGER)?        # attributeClause
  ;

// LANGUAGE sql
sqlBody : query | insert | update | deleteRows ;

block : label? (DECLARE declaration*)? BEGIN statement* (EXCEPTION exceptionHandler+)? END labelName? ;

exceptionHandler : WHEN exceptionCondition (OR exceptionCondition)* THEN statements ;

// A condition's name, OTHERS, or SQLSTATE '22012'.
exceptionCondition : IDENTIFIER STRING? ;

declaration : name CONSTANT? typeName (NOT NULL_)? ((ASSIGN | EQUAL | DEFAULT) expression)? SEMICOLON ;

statement
  : block SEMICOLON                                                       # blockStatement
  | target (ASSIGN | EQUAL) expression SEMICOLON                          # assignStatement
  | IF expression THEN statements (ELSIF expression THEN statements | ELSEIF expression THEN statements)*
    (ELSE statements)? END IF SEMICOLON                                   # ifStatement
  | CASE subject=expression? caseBranch+ (ELSE statements)? END CASE SEMICOLON  # caseStatement
  | label? LOOP statements END LOOP labelName? SEMICOLON                  # loopStatement
  | label? WHILE expression LOOP statements END LOOP labelName? SEMICOLON # whileStatement
  | label? FOR name IN_ REVERSE? expression DOT_DOT expression (BY expression)?
    LOOP statements END LOOP labelName? SEMICOLON                         # forRangeStatement
  | label? FOR target (COMMA target)* IN_ select LOOP statements END LOOP labelName? SEMICOLON  # forQueryStatement
  | (EXIT | CONTINUE) labelName? (WHEN expression)? SEMICOLON                  # leaveStatement
  | label? FOREACH target IN_ ARRAY expression LOOP statements END LOOP labelName? SEMICOLON  # forEachStatement
  | RETURN expression? SEMICOLON                                          # returnStatement
  | RAISE (EXCEPTION | IDENTIFIER)? raised? (USING raiseOption (COMMA raiseOption)*)? SEMICOLON  # raiseStatement
  | ASSERT expression (COMMA expression)? SEMICOLON                       # assertStatement
  | GET IDENTIFIER? DIAGNOSTICS diagnostic (COMMA diagnostic)* SEMICOLON  # diagnosticsStatement
  | callProcedure SEMICOLON                                               # callStatement
  | NULL_ SEMICOLON                                                       # nullStatement
  | PERFORM selectRest SEMICOLON                                          # performStatement
  | select SEMICOLON                                                      # selectStatement
  | insert SEMICOLON                                                      # insertStatement
  | update SEMICOLON                                                      # updateStatement
  | deleteRows SEMICOLON                                                      # deleteStatement
  ;

statements : statement* ;

// A message with its arguments, a condition's name, or SQLSTATE '22012'.
raised : STRING (COMMA expression)* | IDENTIFIER STRING? ;

raiseOption : (IDENTIFIER | COLUMN | CONSTRAINT | TABLE) (EQUAL | ASSIGN) expression ;

diagnostic : target (EQUAL | ASSIGN) IDENTIFIER ;

label : LABEL_OPEN labelName LABEL_CLOSE ;

// A label may be any word that PL/pgSQL itself does not reserve: SQL's reserved words are ordinary ones to it.
labelName
  : name
  | ISNULL | NOTNULL
  | AND | ANY | ARRAY | AS | ASC | ASYMMETRIC | SYMMETRIC | BETWEEN | CAST | CHARACTER | CHECK_ | COLLATE | COLUMN | CONSTRAINT | CONTINUE | CREATE | DEFAULT
  | DELETE_ | DESC | DISTINCT | DOUBLE_ | ELSEIF | ELSIF | EXCEPTION | EXIT | FALSE_ | INNER | INOUT | INSERT | IS | JOIN | LIMIT
  | OFFSET | ON | ONLY | ORDER | OUT_ | PERFORM | PRECISION | PRIMARY | RAISE | RETURN | RETURNING | SELECT | SET | TABLE | TRUE_ | UNIQUE
  | UPDATE | VALUES | WHERE | WINDOW | WITH | WITHOUT
  | CROSS | DO | EXCEPT | FETCH | FOREIGN | FULL | GROUP | HAVING | ILIKE | INTERSECT | LATERAL | LEFT | LIKE | NATURAL | OUTER | REFERENCES | RIGHT | SOME
  | UNION ;

caseBranch : WHEN expression (COMMA expression)* THEN statements ;

target : name (DOT name)? (LBRACKET expression RBRACKET)? ;

// Database operations

select : SELECT (distinct? into? | into distinct) selectRest ;

selectRest
  : selectItem (COMMA selectItem)* into? (FROM fromItem fromRest*)? (WHERE where=expression)?
    (GROUP BY group+=expression (COMMA group+=expression)*)? (HAVING having=expression)?
    (ORDER BY orderItem (COMMA orderItem)*)? (limit | offset | forUpdate)* into? ;

selectItem : STAR | name DOT STAR | expression (AS name)? ;

fromItem : relation (AS? name)? ;

fromRest : COMMA fromItem | INNER? JOIN fromItem ON expression ;

// The two words: NULLS FIRST or NULLS LAST.
orderItem : expression (ASC | DESC | USING (LESS | GREATER))? (IDENTIFIER IDENTIFIER)? ;

limit : LIMIT (ALL | expression) ;

offset : OFFSET expression IDENTIFIER? ;

// FETCH FIRST n ROWS ONLY, or WITH TIES
fetch : FETCH IDENTIFIER primary? IDENTIFIER (ONLY | WITH IDENTIFIER) ;

// FOR UPDATE, NO KEY UPDATE, SHARE or KEY SHARE, OF tables, and NOWAIT or SKIP LOCKED
forUpdate
  : FOR (UPDATE | IDENTIFIER KEY UPDATE | IDENTIFIER | KEY IDENTIFIER) (IDENTIFIER name (COMMA name)*)? IDENTIFIER? ;

into : INTO STRICT? target (COMMA target)* ;

insert
  : with? INSERT INTO relation (AS name)? nameList? overriding? (VALUES insertRow (COMMA insertRow)* | DEFAULT VALUES | selectQuery)
    onConflict? returning? ;

// OVERRIDING SYSTEM VALUE
overriding : IDENTIFIER IDENTIFIER IDENTIFIER ;

// ON CONFLICT ... DO NOTHING or DO UPDATE
onConflict
  : ON IDENTIFIER (nameList | ON CONSTRAINT name)? DO (IDENTIFIER | UPDATE SET setItem (COMMA setItem)* (WHERE expression)?) ;

insertRow : LPAREN insertValue (COMMA insertValue)* RPAREN ;

insertValue : DEFAULT | expression ;

// FROM and USING, DEFAULT and a list in parentheses: a session's alone.
update
  : with? UPDATE ONLY? relation (AS? name)? SET setItem (COMMA setItem)* (FROM tableItem (COMMA tableItem)*)?
    (WHERE expression)? returning? ;

setItem
  : name EQUAL (DEFAULT | expression)
  | nameList EQUAL name? LPAREN (DEFAULT | expression) (COMMA (DEFAULT | expression))* RPAREN
  | nameList EQUAL LPAREN nestedQuery RPAREN ;

deleteRows
  : with? DELETE_ FROM ONLY? relation (AS? name)? (USING tableItem (COMMA tableItem)*)? (WHERE expression)? returning? ;

merge : with? MERGE INTO ONLY? relation (AS? name)? USING tableItem ON expression mergeWhen+ ;

// WHEN [NOT] MATCHED, and DO NOTHING
mergeWhen
  : WHEN NOT? IDENTIFIER (AND expression)? THEN
    (UPDATE SET setItem (COMMA setItem)* | DELETE_ | DO IDENTIFIER | INSERT nameList? (VALUES insertRow | DEFAULT VALUES)) ;

returning : RETURNING selectItem (COMMA selectItem)* into? ;

// Queries: what a session's SELECT may be, and what stands in parentheses in one

query : with? (selectCore | values | LPAREN query RPAREN) setOperation* queryTail ;

// Without a parenthesis at its beginning, which would be an expression's.
// Where it begins with one all the same, a set operation follows.
nestedQuery
  : with? (selectCore | values) setOperation* queryTail
  | with? LPAREN query RPAREN setOperation+ queryTail ;

// Of INSERT, which has VALUES of its own.
selectQuery : with? (selectCore | LPAREN query RPAREN) setOperation* queryTail ;

// The word after WITH is RECURSIVE.
with : WITH IDENTIFIER? commonTable (COMMA commonTable)* ;

commonTable : name nameList? AS (NOT? IDENTIFIER)? LPAREN (query | insert | update | deleteRows) RPAREN ;

setOperation : (UNION | EXCEPT | INTERSECT) (ALL | DISTINCT)? (selectCore | values | LPAREN query RPAREN) ;

queryTail : (ORDER BY orderItem (COMMA orderItem)*)? (limit | offset | fetch | forUpdate)* ;

selectCore
  : SELECT (ALL | distinct)? (queryItem (COMMA queryItem)*)? into?
    (FROM tableItem (COMMA tableItem)*)? (WHERE where=expression)?
    (GROUP BY (ALL | DISTINCT)? groupItem (COMMA groupItem)*)? (HAVING having=expression)?
    (WINDOW namedWindow (COMMA namedWindow)*)? ;

distinct : DISTINCT (ON LPAREN expression (COMMA expression)* RPAREN)? ;

namedWindow : name AS LPAREN windowDefinition RPAREN ;

// The word before BY is PARTITION. ROWS, RANGE and GROUPS at the beginning are no window's name, so the way without one
// comes first.
windowDefinition
  : (IDENTIFIER BY expression (COMMA expression)*)? (ORDER BY orderItem (COMMA orderItem)*)? windowFrame?
  | name (IDENTIFIER BY expression (COMMA expression)*)? (ORDER BY orderItem (COMMA orderItem)*)? windowFrame? ;

// ROWS, RANGE or GROUPS
windowFrame : IDENTIFIER (frameBound | BETWEEN frameBound AND frameBound) frameExclusion? ;

// UNBOUNDED PRECEDING, CURRENT ROW, 3 FOLLOWING
frameBound : IDENTIFIER IDENTIFIER | expression IDENTIFIER ;

// EXCLUDE CURRENT ROW, GROUP, TIES or NO OTHERS
frameExclusion : IDENTIFIER (GROUP | IDENTIFIER IDENTIFIER?) ;

// ROLLUP and CUBE are read as functions. The two words: GROUPING SETS.
groupItem
  : LPAREN RPAREN
  | IDENTIFIER IDENTIFIER LPAREN groupItem (COMMA groupItem)* RPAREN
  | expression ;

values : VALUES insertRow (COMMA insertRow)* | TABLE ONLY? queriedRelation ;

queryItem : STAR | (name DOT)? name DOT STAR | expression (AS columnLabel | name)? ;

// Any word may follow AS.
columnLabel : labelName | BEGIN | BY | CASE | DECLARE | ELSE | END | FOR | FROM | IF | IN_ | INTO | LOOP | NOT | NULL_ | OR
  | STRICT | THEN | TO | USING | WHEN | WHILE | ALL ;

tableItem : tablePrimary joinedTable* ;

joinedTable
  : CROSS JOIN tablePrimary
  | NATURAL joinKind? JOIN tablePrimary
  | joinKind? JOIN tablePrimary (ON expression | USING nameList) ;

joinKind : INNER | (LEFT | RIGHT | FULL) OUTER? ;

tablePrimary
  : ONLY? queriedRelation tableAlias?                                              # namedTable
  | LATERAL? LPAREN nestedQuery RPAREN tableAlias?                                 # derivedTable
  | LATERAL? (name DOT)? name LPAREN (argument (COMMA argument)*)? RPAREN (WITH IDENTIFIER)?
    tableAlias?  # functionTable
  | LPAREN tableItem RPAREN                                                        # joinedTables
  ;

// A table of the database's, or one that describes it.
queriedRelation : (name DOT)? name ;

tableAlias : AS? name nameList? ;

// Expressions, from the loosest operator to the tightest: PostgreSQL's precedence

expression : conjunction (OR conjunction)* ;

conjunction : negation (AND negation)* ;

negation : NOT negation | test ;

test : comparison isTest* ;

isTest : IS NOT? (NULL_ | TRUE_ | FALSE_ | IDENTIFIER | DISTINCT FROM comparison) | ISNULL | NOTNULL ;

comparison : membership (compareOperator ((ANY | SOME | ALL) LPAREN (nestedQuery | expression) RPAREN | membership))? ;

compareOperator : EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL ;

membership
  : concatenation (NOT? BETWEEN (SYMMETRIC | ASYMMETRIC)? concatenation AND concatenation
                  | NOT? IN_ LPAREN (nestedQuery | expression (COMMA expression)*) RPAREN
                  | NOT? (LIKE | ILIKE) (ANY | SOME | ALL) LPAREN expression RPAREN
                  | NOT? (LIKE | ILIKE | IDENTIFIER TO) concatenation (ESCAPE STRING)?
                  | matchOperator concatenation)? ;

// Perhaps as OPERATOR(pg_catalog.~).
matchOperator
  : MATCHES | MATCHES_ANY_CASE | NOT_MATCHES | NOT_MATCHES_ANY_CASE | LIKES | NOT_LIKES
  | IDENTIFIER LPAREN name DOT (MATCHES | MATCHES_ANY_CASE | NOT_MATCHES | NOT_MATCHES_ANY_CASE | LIKES | NOT_LIKES | EQUAL) RPAREN ;

// All other operators, as PostgreSQL has them: on one level, from the left.
concatenation
  : bitTerm ((CONCAT | AMPERSAND | BAR | HASH | LABEL_OPEN | LABEL_CLOSE | CONTAINS | CONTAINED | OVERLAPS | BEGINS_WITH
            | JSON_VALUE | JSON_TEXT | JSON_PATH | JSON_PATH_TEXT | JSON_ERASE | HAS_KEY | HAS_ANY_KEY | HAS_ALL_KEYS) bitTerm)* ;

bitTerm : (MATCHES | SQUARE_ROOT | CUBE_ROOT | AT_SIGN)* sum ;

sum : product ((PLUS | MINUS) product)* ;

product : power ((STAR | SLASH | PERCENT) power)* ;

power : zonedTime (CARET zonedTime)* ;

// The word: AT.
zonedTime : signedTerm (IDENTIFIER TIME ZONE signedTerm)* ;

signedTerm : (PLUS | MINUS) signedTerm | cast ;

cast
  : primary (CAST_OPERATOR typeName | LBRACKET expression RBRACKET | COLLATE (name DOT)? (name | DEFAULT))* ;

primary
  : (INTEGER | DECIMAL | EXPONENT | STRING+ | ESCAPED_STRING | NULL_ | TRUE_ | FALSE_)        # literal
  | CASE subject=expression? whenBranch+ (ELSE otherwise=expression)? END                     # caseExpression
  | CAST LPAREN expression AS typeName RPAREN                                                 # castExpression
  | (TIMESTAMP modifiers? ((WITH | WITHOUT) TIME ZONE)? | DOUBLE_ PRECISION | name modifiers?) STRING
    ({is_interval_field()}? IDENTIFIER (TO IDENTIFIER)? modifiers?)?  # typedLiteral
  | PARAMETER                                                                                 # parameterValue
  | ARRAY LBRACKET (expression (COMMA expression)*)? RBRACKET                                 # arrayValue
  | ARRAY LPAREN nestedQuery RPAREN                                                           # arrayQuery
  | name LPAREN concatenation IN_ concatenation RPAREN                                        # positionCall
  | name LPAREN expression FROM expression (FOR expression)? RPAREN                           # substringCall
  | name LPAREN IDENTIFIER expression FROM expression RPAREN                                  # trimCall
  | name LPAREN expression IDENTIFIER expression FROM expression (FOR expression)? RPAREN     # overlayCall
  | EXISTS LPAREN nestedQuery RPAREN                                                          # existsQuery
  | (name DOT)? functionName LPAREN (STAR | (DISTINCT | ALL)? argument (COMMA argument)*
    (ORDER BY orderItem (COMMA orderItem)*)?)? RPAREN withinGroup? (IDENTIFIER LPAREN WHERE expression RPAREN)? over?  # call
  | name (DOT name (DOT name)?)?                                                              # reference
  | LPAREN expression (COMMA expression)* RPAREN (DOT name)*                                  # parenthesis
  | LPAREN nestedQuery RPAREN                                                                 # scalarQuery
  ;

// The word: WITHIN.
withinGroup : IDENTIFIER GROUP LPAREN ORDER BY orderItem (COMMA orderItem)* RPAREN ;

whenBranch : WHEN expression THEN expression ;

functionName : name | LEFT | RIGHT ;

over : OVER (name | LPAREN windowDefinition RPAREN) ;

// Words that PostgreSQL does not reserve may be names too.
name
  : IDENTIFIER | QUOTED_IDENTIFIER
  | ABORT | ADD | ALTER | ASSERT | CALL | CASCADE | COMMENT | COMMIT | CONSTANT | DIAGNOSTICS | DROP | ESCAPE | EXISTS | FUNCTION | GENERATED | GET | INDEX | KEY | LANGUAGE | MERGE | OVER | PROCEDURE
  | REPLACE
  | RELEASE | RESTRICT | RETURNS | REVERSE | ROLLBACK | ROUTINE | SAVEPOINT | SEQUENCE | START | TIME | TIMESTAMP | TRANSACTION | TRUNCATE | VARYING | VIEW | WORK
  | ZONE ;
