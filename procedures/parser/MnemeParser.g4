// The accepted subset of PostgreSQL's SQL and PL/pgSQL. What is not in it is a syntax error, which
// procedures/syntax_error.cc turns into a sentence about the construct that the text most likely began.
parser grammar MnemeParser;
options { tokenVocab = MnemeLexer; }

file : definition (SEMICOLON definition)* SEMICOLON? EOF ;

definition : createTable | createIndex | createProcedure | alterTable ;

// One statement of an SQL session

command
  : (query | insert | update | deleteRows | callProcedure | definition | drop | truncate | transactionControl)
    SEMICOLON? EOF ;

callProcedure : CALL relation LPAREN (expression (COMMA expression)*)? RPAREN ;

drop
  : DROP (TABLE | INDEX | PROCEDURE) (IF EXISTS)? relation parameterTypes? (COMMA relation parameterTypes?)*
    (CASCADE | RESTRICT)? ;

// A procedure's name alone tells which is meant.
parameterTypes : LPAREN (parameterType (COMMA parameterType)*)? RPAREN ;

parameterType : (IN_ | INOUT)? name? typeName ;

truncate : TRUNCATE TABLE? ONLY? relation (COMMA ONLY? relation)* (CASCADE | RESTRICT)? ;

alterTable : ALTER TABLE (IF EXISTS)? ONLY? relation ADD tableConstraint ;

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

storage : WITH LPAREN name EQUAL (INTEGER | STRING | name) (COMMA name EQUAL (INTEGER | STRING | name))* RPAREN ;

tableElement : tableConstraint | column ;

column : name typeName columnConstraint* ;

columnConstraint
  : (CONSTRAINT name)? NOT NULL_     # notNull
  | (CONSTRAINT name)? NULL_         # nullable
  | (CONSTRAINT name)? PRIMARY KEY   # primaryKey
  | (CONSTRAINT name)? UNIQUE        # uniqueColumn
  | (CONSTRAINT name)? check         # checkColumn
  | COLLATE QUOTED_IDENTIFIER        # collation
  | DEFAULT concatenation            # defaultValue
  ;

tableConstraint
  : (CONSTRAINT name)? PRIMARY KEY nameList  # tablePrimaryKey
  | (CONSTRAINT name)? UNIQUE nameList       # tableUnique
  | (CONSTRAINT name)? check                 # tableCheck
  ;

check : CHECK_ LPAREN expression RPAREN ;

nameList : LPAREN name (COMMA name)* RPAREN ;

// A table, index or procedure, perhaps with its schema, of which there is one: public.
relation : (name DOT)? name ;

// Without columns it is a list of the table's rows, for a table without a primary key: ours alone.
createIndex
  : CREATE UNIQUE? INDEX ((IF NOT EXISTS)? name)? ON ONLY? relation (USING name)?
    LPAREN (indexColumn (COMMA indexColumn)*)? RPAREN ;

indexColumn : name ASC? ;

// Types

typeName : name DOT name PERCENT name  # columnType
         | baseType (LBRACKET RBRACKET)?  # plainType
         ;

baseType : (DOUBLE_ PRECISION | CHARACTER VARYING? | TIMESTAMP | (name DOT)? name) modifiers? (WITHOUT TIME ZONE)? ;

modifiers : LPAREN INTEGER (COMMA INTEGER)? RPAREN ;

// Procedures

createProcedure : CREATE (OR REPLACE)? PROCEDURE name LPAREN (parameter (COMMA parameter)*)? RPAREN procedureClause* ;

parameter : (IN_ | INOUT)? name typeName ;

procedureClause
  : LANGUAGE (name | STRING)                    # languageClause
  | AS DOLLAR_QUOTE block SEMICOLON? DOLLAR_QUOTE  # bodyClause
  ;

block : (DECLARE declaration*)? BEGIN statement* END name? ;

declaration : name CONSTANT? typeName ((ASSIGN | EQUAL | DEFAULT) expression)? SEMICOLON ;

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
  | RETURN SEMICOLON                                                      # returnStatement
  | RAISE EXCEPTION? STRING (COMMA expression)* SEMICOLON                 # raiseStatement
  | NULL_ SEMICOLON                                                       # nullStatement
  | PERFORM selectRest SEMICOLON                                          # performStatement
  | select SEMICOLON                                                      # selectStatement
  | insert SEMICOLON                                                      # insertStatement
  | update SEMICOLON                                                      # updateStatement
  | deleteRows SEMICOLON                                                      # deleteStatement
  ;

statements : statement* ;

label : LABEL_OPEN labelName LABEL_CLOSE ;

// A label may be any word that PL/pgSQL itself does not reserve: SQL's reserved words are ordinary ones to it.
labelName
  : name
  | AND | ANY | ARRAY | AS | ASC | BETWEEN | CAST | CHARACTER | CHECK_ | COLLATE | CONSTRAINT | CONTINUE | CREATE | DEFAULT
  | DELETE_ | DESC | DISTINCT | DOUBLE_ | ELSEIF | ELSIF | EXCEPTION | EXIT | FALSE_ | INNER | INOUT | INSERT | IS | JOIN | LIMIT
  | OFFSET | ON | ONLY | ORDER | OUT_ | PERFORM | PRECISION | PRIMARY | RAISE | RETURN | RETURNING | SELECT | SET | TABLE | TRUE_ | UNIQUE
  | UPDATE | VALUES | WHERE | WITH | WITHOUT
  | CROSS | EXCEPT | FETCH | FULL | GROUP | HAVING | ILIKE | INTERSECT | LATERAL | LEFT | LIKE | NATURAL | OUTER | RIGHT | SOME
  | UNION ;

caseBranch : WHEN expression (COMMA expression)* THEN statements ;

target : name (DOT name)? (LBRACKET expression RBRACKET)? ;

// Database operations

select : SELECT into? selectRest ;

selectRest
  : selectItem (COMMA selectItem)* into? (FROM fromItem fromRest*)? (WHERE expression)?
    (ORDER BY orderItem (COMMA orderItem)*)? (limit | offset | forUpdate)* into? ;

selectItem : STAR | name DOT STAR | expression (AS name)? ;

fromItem : relation (AS? name)? ;

fromRest : COMMA fromItem | INNER? JOIN fromItem ON expression ;

// The two words: NULLS FIRST or NULLS LAST.
orderItem : expression (ASC | DESC)? (IDENTIFIER IDENTIFIER)? ;

limit : LIMIT (ALL | expression) ;

offset : OFFSET expression IDENTIFIER? ;

// FETCH FIRST n ROWS ONLY
fetch : FETCH IDENTIFIER primary? IDENTIFIER ONLY ;

forUpdate : FOR UPDATE ;

into : INTO STRICT? target (COMMA target)* ;

insert
  : INSERT INTO relation nameList? (VALUES insertRow (COMMA insertRow)* | DEFAULT VALUES | selectQuery) returning? ;

insertRow : LPAREN insertValue (COMMA insertValue)* RPAREN ;

insertValue : DEFAULT | expression ;

// FROM and USING, DEFAULT and a list in parentheses: a session's alone.
update
  : UPDATE ONLY? relation (AS? name)? SET setItem (COMMA setItem)* (FROM tableItem (COMMA tableItem)*)?
    (WHERE expression)? returning? ;

setItem
  : name EQUAL (DEFAULT | expression)
  | nameList EQUAL name? LPAREN (DEFAULT | expression) (COMMA (DEFAULT | expression))* RPAREN ;

deleteRows
  : DELETE_ FROM ONLY? relation (AS? name)? (USING tableItem (COMMA tableItem)*)? (WHERE expression)? returning? ;

returning : RETURNING selectItem (COMMA selectItem)* into? ;

// Queries: what a session's SELECT may be, and what stands in parentheses in one

query : with? (selectCore | values | LPAREN query RPAREN) setOperation* queryTail ;

// Without a parenthesis at its beginning, which would be an expression's.
nestedQuery : with? (selectCore | values) setOperation* queryTail ;

// Of INSERT, which has VALUES of its own.
selectQuery : with? (selectCore | LPAREN query RPAREN) setOperation* queryTail ;

with : WITH commonTable (COMMA commonTable)* ;

commonTable : name nameList? AS (NOT? IDENTIFIER)? LPAREN query RPAREN ;

setOperation : (UNION | EXCEPT | INTERSECT) (ALL | DISTINCT)? (selectCore | values | LPAREN query RPAREN) ;

queryTail : (ORDER BY orderItem (COMMA orderItem)*)? (limit | offset | fetch | forUpdate)* ;

selectCore
  : SELECT (ALL | DISTINCT (ON LPAREN expression (COMMA expression)* RPAREN)?)? (queryItem (COMMA queryItem)*)? into?
    (FROM tableItem (COMMA tableItem)*)? (WHERE where=expression)?
    (GROUP BY groupItem (COMMA groupItem)*)? (HAVING having=expression)? ;

groupItem : expression ;

values : VALUES insertRow (COMMA insertRow)* ;

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
  | LATERAL? (name DOT)? name LPAREN (expression (COMMA expression)*)? RPAREN tableAlias?  # functionTable
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

isTest : IS NOT? (NULL_ | TRUE_ | FALSE_ | IDENTIFIER | DISTINCT FROM comparison) ;

comparison : membership (compareOperator ((ANY | SOME | ALL) LPAREN (nestedQuery | expression) RPAREN | membership))? ;

compareOperator : EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL ;

membership
  : concatenation (NOT? BETWEEN concatenation AND concatenation
                  | NOT? IN_ LPAREN (nestedQuery | expression (COMMA expression)*) RPAREN
                  | NOT? (LIKE | ILIKE) concatenation (ESCAPE STRING)?
                  | matchOperator concatenation)? ;

// Perhaps as OPERATOR(pg_catalog.~).
matchOperator
  : MATCHES | MATCHES_ANY_CASE | NOT_MATCHES | NOT_MATCHES_ANY_CASE | LIKES | NOT_LIKES
  | IDENTIFIER LPAREN name DOT (MATCHES | MATCHES_ANY_CASE | NOT_MATCHES | NOT_MATCHES_ANY_CASE | LIKES | NOT_LIKES | EQUAL) RPAREN ;

concatenation : sum (CONCAT sum)* ;

sum : product ((PLUS | MINUS) product)* ;

product : signedTerm ((STAR | SLASH | PERCENT) signedTerm)* ;

signedTerm : (PLUS | MINUS) signedTerm | cast ;

cast
  : primary (CAST_OPERATOR typeName | LBRACKET expression RBRACKET | COLLATE (name DOT)? (name | DEFAULT))* ;

primary
  : (INTEGER | DECIMAL | EXPONENT | STRING | ESCAPED_STRING | NULL_ | TRUE_ | FALSE_)         # literal
  | CASE subject=expression? whenBranch+ (ELSE otherwise=expression)? END                     # caseExpression
  | CAST LPAREN expression AS typeName RPAREN                                                 # castExpression
  | TIMESTAMP STRING                                                                          # timestampLiteral
  | PARAMETER                                                                                 # parameterValue
  | ARRAY LBRACKET (expression (COMMA expression)*)? RBRACKET                                 # arrayValue
  | ARRAY LPAREN nestedQuery RPAREN                                                           # arrayQuery
  | name LPAREN concatenation IN_ concatenation RPAREN                                        # positionCall
  | name LPAREN expression FROM expression (FOR expression)? RPAREN                           # substringCall
  | EXISTS LPAREN nestedQuery RPAREN                                                          # existsQuery
  | (name DOT)? functionName LPAREN (STAR | (DISTINCT | ALL)? expression (COMMA expression)*
    (ORDER BY orderItem (COMMA orderItem)*)?)? RPAREN (IDENTIFIER LPAREN WHERE expression RPAREN)?  # call
  | name (DOT name (DOT name)?)?                                                              # reference
  | LPAREN expression (COMMA expression)* RPAREN                                              # parenthesis
  | LPAREN nestedQuery RPAREN                                                                 # scalarQuery
  ;

whenBranch : WHEN expression THEN expression ;

functionName : name | LEFT | RIGHT ;

// Words that PostgreSQL does not reserve may be names too.
name
  : IDENTIFIER | QUOTED_IDENTIFIER
  | ABORT | ADD | ALTER | CALL | CASCADE | COMMIT | CONSTANT | DROP | ESCAPE | EXISTS | INDEX | KEY | LANGUAGE | PROCEDURE | REPLACE
  | RELEASE | RESTRICT | REVERSE | ROLLBACK | SAVEPOINT | START | TIME | TIMESTAMP | TRANSACTION | TRUNCATE | VARYING | WORK | ZONE ;
