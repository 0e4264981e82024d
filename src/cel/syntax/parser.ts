// Tokens to a syntax tree, by recursive descent. An expression with a syntax error is read a second time by
// syntax-errors.ts, which reports the error as cel-go does and continues behind it.
import { type Lexed, lex, T, type Token, type TokenType } from './lexer.js'
import { type Issue, type Source, sourceOf } from './source.js'
import { diagnose } from './syntax-errors.js'
import { type Expr, type MapEntry, OPERATORS, type StructField } from './syntax-tree.js'
import { type SyntaxOptions, TreeBuilder } from './tree-builder.js'

export type Parsed =
  | { readonly ok: true; readonly source: Source; readonly expr: Expr }
  | { readonly ok: false; readonly source: Source; readonly issues: readonly Issue[] }

/** Longest expression in code points. */
export const MAX_CODE_POINTS = 100_000

/** How deep expressions may nest inside each other, and how long a chain of operators or selectors may be. */
export const MAX_DEPTH = 250

export function parse(text: string, options: SyntaxOptions): Parsed {
  const source = sourceOf(text)
  const fail = (issue: Issue): Parsed => ({ ok: false, source, issues: [issue] })
  if (source.points.length > MAX_CODE_POINTS) {
    return fail({
      offset: -1,
      message: `expression code point size exceeds limit: size: ${source.points.length}, limit ${MAX_CODE_POINTS}`,
    })
  }
  const lexed = lex(source)
  try {
    if (lexed.issues.length === 0) {
      const parser = new Parser(lexed, options)
      const expr = parser.read()
      return parser.builder.issues.length === 0
        ? { ok: true, source, expr }
        : { ok: false, source, issues: parser.builder.issues }
    }
  } catch (error) {
    if (error instanceof TooDeep) return fail({ offset: -1, message: error.message })
    if (error !== UNEXPECTED) throw error
  }
  return { ok: false, source, issues: diagnose(lexed, options, MAX_DEPTH).issues }
}

/** Thrown at the first token that does not fit. */
const UNEXPECTED = new Error('unexpected token')

class TooDeep extends Error {}

const RELATIONS: ReadonlyMap<TokenType, string> = new Map<TokenType, string>([
  [T.LESS, '_<_'],
  [T.LESS_EQUALS, '_<=_'],
  [T.GREATER, '_>_'],
  [T.GREATER_EQUALS, '_>=_'],
  [T.EQUALS, '_==_'],
  [T.NOT_EQUALS, '_!=_'],
  [T.IN, '@in'],
])

const SUMS: ReadonlyMap<TokenType, string> = new Map<TokenType, string>([
  [T.PLUS, '_+_'],
  [T.MINUS, '_-_'],
])

const PRODUCTS: ReadonlyMap<TokenType, string> = new Map<TokenType, string>([
  [T.STAR, '_*_'],
  [T.SLASH, '_/_'],
  [T.PERCENT, '_%_'],
])

class Parser {
  readonly builder: TreeBuilder
  private at = 0
  /** How deep each of the rules is in itself that can be. */
  private readonly depths = { expr: 0, relation: 0, calc: 0 }
  /** The deepest chain of operators and selectors beneath each node that has one. */
  private readonly chains = new WeakMap<Expr, number>()

  constructor(
    private readonly lexed: Lexed,
    options: SyntaxOptions,
  ) {
    this.builder = new TreeBuilder(options)
  }

  read(): Expr {
    const expr = this.expr()
    this.take(T.EOF)
    return expr
  }

  private get token(): Token {
    return this.lexed.tokens[this.at]!
  }

  private peek(ahead: number): TokenType {
    return this.lexed.tokens[Math.min(this.at + ahead, this.lexed.tokens.length - 1)]!.type
  }

  private take(type: TokenType): Token {
    const { token } = this
    if (token.type !== type) throw UNEXPECTED
    this.at++
    return token
  }

  private skip(type: TokenType): boolean {
    if (this.token.type !== type) return false
    this.at++
    return true
  }

  /** Notes how deep the chain beneath a new node is. */
  private chained(expr: Expr, ...parts: Expr[]): Expr {
    const depth = 1 + parts.reduce((max, part) => Math.max(max, this.chains.get(part) ?? 0), 0)
    if (depth > MAX_DEPTH) throw new TooDeep('max recursion depth exceeded')
    this.chains.set(expr, depth)
    return expr
  }

  private expr(): Expr {
    this.descend('expr')
    let expr = this.or()
    const { token } = this
    if (this.skip(T.QUESTION)) {
      const then = this.or()
      this.take(T.COLON)
      const otherwise = this.expr()
      expr = this.chained(
        this.builder.call(token.offset, OPERATORS.conditional, [expr, then, otherwise]),
        expr,
        then,
        otherwise,
      )
    }
    this.depths.expr--
    return expr
  }

  private or(): Expr {
    return this.logical(T.OR, OPERATORS.or, () => this.logical(T.AND, OPERATORS.and, () => this.relation()))
  }

  private logical(type: TokenType, name: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const offsets: number[] = []
    while (this.token.type === type) {
      offsets.push(this.take(type).offset)
      terms.push(operand())
    }
    if (offsets.length === 0) return terms[0]!
    const expr = this.builder.logical(name, terms, offsets)
    this.chains.set(
      expr,
      terms.reduce((max, term) => Math.max(max, this.chains.get(term) ?? 0), 0),
    )
    return expr
  }

  private descend(rule: 'expr' | 'relation' | 'calc'): void {
    if (++this.depths[rule] > MAX_DEPTH) throw new TooDeep(`expression recursion limit exceeded: ${MAX_DEPTH}`)
  }

  private relation(): Expr {
    this.descend('relation')
    const expr = this.binary(RELATIONS, 'relation', () => this.calc())
    this.depths.relation--
    return expr
  }

  private calc(): Expr {
    this.descend('calc')
    const expr = this.binary(SUMS, 'calc', () => this.binary(PRODUCTS, 'calc', () => this.unary()))
    this.depths.calc--
    return expr
  }

  private binary(operators: ReadonlyMap<TokenType, string>, rule: 'relation' | 'calc', operand: () => Expr): Expr {
    let left = operand()
    for (let name = operators.get(this.token.type); name !== undefined; name = operators.get(this.token.type)) {
      const { offset } = this.take(this.token.type)
      // The right operand is the same rule once more.
      this.descend(rule)
      const right = operand()
      this.depths[rule]--
      left = this.chained(this.builder.call(offset, name, [left, right]), left, right)
    }
    return left
  }

  private unary(): Expr {
    const { token } = this
    if (token.type === T.EXCLAM) return this.repeated(T.EXCLAM, OPERATORS.not)
    if (token.type === T.MINUS && !this.isSign()) return this.repeated(T.MINUS, OPERATORS.negate)
    return this.member()
  }

  /** A single minus before a number belongs to it; of several, none does. */
  private isSign(): boolean {
    const next = this.peek(1)
    return next === T.INT || next === T.FLOAT
  }

  private repeated(type: TokenType, name: string): Expr {
    const { offset } = this.token
    let count = 0
    while (this.token.type === type) {
      this.at++
      count++
    }
    const operand = this.member()
    if (count % 2 === 0) return operand
    const expr = this.builder.call(offset, name, [operand])
    this.chains.set(expr, this.chains.get(operand) ?? 0)
    return expr
  }

  private member(): Expr {
    let operand = this.primary()
    for (;;) {
      const { type, offset } = this.token
      if (type === T.DOT) {
        this.at++
        operand = this.chained(this.selection(operand, offset), operand)
      } else if (type === T.LBRACKET) {
        this.at++
        const optional = this.skip(T.QUESTION)
        const index = this.expr()
        this.take(T.RBRACKET)
        operand = this.chained(this.builder.index(offset, operand, index, optional), operand, index)
      } else return operand
    }
  }

  private selection(operand: Expr, offset: number): Expr {
    const { builder } = this
    const optional = this.skip(T.QUESTION)
    const { token } = this
    if (token.type !== T.IDENTIFIER && token.type !== T.ESC_IDENTIFIER) throw UNEXPECTED
    this.at++
    if (!optional && token.type === T.IDENTIFIER && this.token.type === T.LPAREN) {
      const open = this.token.offset
      return builder.memberCall(open, operand, token.text, this.callArgs())
    }
    const field = builder.field(token.offset, token.text, token.type === T.ESC_IDENTIFIER)
    if (field === undefined) return builder.hole(offset)
    return optional
      ? builder.optionalSelect(offset, operand, field, token.offset)
      : builder.select(offset, operand, field)
  }

  private callArgs(): Expr[] {
    this.take(T.LPAREN)
    const args: Expr[] = []
    if (this.token.type !== T.RPAREN) {
      do args.push(this.expr())
      while (this.skip(T.COMMA))
    }
    this.take(T.RPAREN)
    return args
  }

  private primary(): Expr {
    const { token, builder } = this
    switch (token.type) {
      case T.DOT:
      case T.IDENTIFIER:
        return this.name()
      case T.LPAREN: {
        this.at++
        const expr = this.expr()
        this.take(T.RPAREN)
        return expr
      }
      case T.LBRACKET:
        return this.list()
      case T.LBRACE:
        return this.map()
      case T.MINUS: {
        this.at++
        const number = this.token
        if (number.type !== T.INT && number.type !== T.FLOAT) throw UNEXPECTED
        this.at++
        return builder.readLiteral(token.offset, number.type === T.INT ? 'int' : 'double', number.text, true)
      }
      default:
        this.at++
        return readConstant(builder, token) ?? raise()
    }
  }

  private name(): Expr {
    const start = this.token.offset
    const leadingDot = this.skip(T.DOT)
    const first = this.take(T.IDENTIFIER)
    if (this.token.type === T.LPAREN) {
      const open = this.token.offset
      return this.builder.globalCall(open, first.text, this.callArgs(), start, leadingDot)
    }
    const message = this.messageName()
    if (message === undefined) return this.builder.ident(first.offset, first.text, leadingDot, start)
    return this.struct(`${leadingDot ? '.' : ''}${first.text}${message}`)
  }

  /** The rest of a qualified name if a brace follows it. */
  private messageName(): string | undefined {
    let ahead = 0
    while (this.peek(ahead) === T.DOT && this.peek(ahead + 1) === T.IDENTIFIER) ahead += 2
    if (this.peek(ahead) !== T.LBRACE) return undefined
    const rest = this.lexed.tokens.slice(this.at, this.at + ahead).map(({ text }) => text)
    this.at += ahead
    return rest.join('')
  }

  private struct(typeName: string): Expr {
    const { builder } = this
    const { offset } = this.take(T.LBRACE)
    const fields: StructField[] = []
    while (this.token.type !== T.RBRACE && this.token.type !== T.COMMA) {
      const mark = this.token.offset
      const optional = this.skip(T.QUESTION)
      const { token } = this
      if (token.type !== T.IDENTIFIER && token.type !== T.ESC_IDENTIFIER) throw UNEXPECTED
      this.at++
      const colon = this.take(T.COLON)
      const value = this.expr()
      const name = builder.field(token.offset, token.text, token.type === T.ESC_IDENTIFIER)
      if (name !== undefined && (!optional || builder.allowsOptional(mark))) {
        fields.push(builder.structField(colon.offset, name, value, optional))
      }
      if (!this.skip(T.COMMA)) break
      if (this.peek(0) === T.RBRACE) break
    }
    if (fields.length === 0) this.skip(T.COMMA)
    this.take(T.RBRACE)
    return builder.struct(offset, typeName, fields)
  }

  private list(): Expr {
    const { builder } = this
    const { offset } = this.take(T.LBRACKET)
    const elements: Expr[] = []
    const optional: number[] = []
    while (this.token.type !== T.RBRACKET && this.token.type !== T.COMMA) {
      const mark = this.token.offset
      if (this.skip(T.QUESTION) && builder.allowsOptional(mark)) optional.push(elements.length)
      elements.push(this.expr())
      if (!this.skip(T.COMMA)) break
      if (this.peek(0) === T.RBRACKET) break
    }
    if (elements.length === 0) this.skip(T.COMMA)
    this.take(T.RBRACKET)
    return builder.list(offset, elements, optional)
  }

  private map(): Expr {
    const { builder } = this
    const { offset } = this.take(T.LBRACE)
    const entries: MapEntry[] = []
    while (this.token.type !== T.RBRACE && this.token.type !== T.COMMA) {
      const mark = this.token.offset
      const optional = this.skip(T.QUESTION)
      const key = this.expr()
      const colon = this.take(T.COLON)
      const value = this.expr()
      if (!optional || builder.allowsOptional(mark)) entries.push(builder.entry(colon.offset, key, value, optional))
      if (!this.skip(T.COMMA)) break
      if (this.peek(0) === T.RBRACE) break
    }
    if (entries.length === 0) this.skip(T.COMMA)
    this.take(T.RBRACE)
    return builder.map(offset, entries)
  }
}

function raise(): never {
  throw UNEXPECTED
}

/** The literal that one token is. */
export function readConstant(builder: TreeBuilder, { type, text, offset }: Token): Expr | undefined {
  switch (type) {
    case T.INT:
      return builder.readLiteral(offset, 'int', text)
    case T.UINT:
      return builder.readLiteral(offset, 'uint', text)
    case T.FLOAT:
      return builder.readLiteral(offset, 'double', text)
    case T.STRING:
      return builder.readLiteral(offset, 'string', text)
    case T.BYTES:
      return builder.readLiteral(offset, 'bytes', text)
    case T.TRUE:
    case T.FALSE:
      return builder.literal(offset, type === T.TRUE)
    case T.NULL:
      return builder.literal(offset, null)
    default:
      return undefined
  }
}
