// The grammar as a network of states, for reading expressions that have syntax errors: lookahead.ts says which tokens
// may come next in a state, and which way to go from it.
import { T, type TokenType } from './lexer.js'

export type RuleName =
  | 'start'
  | 'expr'
  | 'or'
  | 'and'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInits'
  | 'optField'
  | 'mapInits'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal'

/** How a decision reacts to a token that does not fit, and whether it looks further than one token. */
export type DecisionKind = 'block' | 'loopEntry' | 'loopBack' | 'plusLoopBack'

export interface State {
  readonly id: number
  readonly rule: RuleName
  readonly edges: Edge[]
  decision?: DecisionKind
  /** One token is enough to decide. */
  simple?: boolean
  end?: boolean
  /** Where alternatives meet again, or a loop begins its next turn. */
  joint?: boolean
}

export type Edge =
  | { readonly kind: 'free'; readonly to: State; readonly precedence?: number }
  | { readonly kind: 'token'; to: State; readonly tokens: readonly TokenType[] }
  | { readonly kind: 'rule'; to: State; readonly rule: RuleName; readonly precedence: number }

const states: State[] = []
const starts = new Map<RuleName, State>()
const ends = new Map<RuleName, State>()

export const startOf = (rule: RuleName): State => starts.get(rule)!

// ---- building

type Part = (rule: RuleName, from: State) => State

const newState = (rule: RuleName): State => {
  const state: State = { id: states.length, rule, edges: [] }
  states.push(state)
  return state
}

const link = (from: State, to: State, precedence?: number): void => {
  from.edges.push({ kind: 'free', to, ...(precedence === undefined ? {} : { precedence }) })
}

const tok =
  (...tokens: TokenType[]): Part =>
  (rule, from) => {
    const to = newState(rule)
    from.edges.push({ kind: 'token', to, tokens })
    return to
  }

const ref =
  (name: RuleName, precedence = 0): Part =>
  (rule, from) => {
    const to = newState(rule)
    from.edges.push({ kind: 'rule', to, rule: name, precedence })
    return to
  }

const seq =
  (...parts: Part[]): Part =>
  (rule, from) =>
    parts.reduce((state, part) => part(rule, state), from)

/** Enters each alternative from a state of its own. */
function branch(rule: RuleName, from: State, part: Part, to: State, precedence?: number): void {
  const entry = newState(rule)
  link(from, entry, precedence)
  link(part(rule, entry), to)
}

const alt =
  (simple: boolean, ...parts: (Part | readonly [precedence: number, Part])[]): Part =>
  (rule, from) => {
    const block = newState(rule)
    link(from, block)
    block.decision = 'block'
    block.simple = simple
    const to = newState(rule)
    to.joint = true
    for (const part of parts) {
      if (typeof part === 'function') branch(rule, block, part, to)
      else branch(rule, block, part[1], to, part[0])
    }
    return to
  }

const opt = (part: Part): Part => alt(true, part, (_rule, from) => from)

const star =
  (simple: boolean, part: Part): Part =>
  (rule, from) => {
    const entry = newState(rule)
    link(from, entry)
    const back = newState(rule)
    const to = newState(rule)
    entry.decision = 'loopEntry'
    back.decision = 'loopBack'
    back.joint = true
    entry.simple = simple
    back.simple = simple
    const body = newState(rule)
    link(body, newState(rule))
    const exit = part(rule, body.edges[0]!.to)
    link(exit, back)
    for (const state of [entry, back]) {
      link(state, body)
      link(state, to)
    }
    return to
  }

const plus =
  (simple: boolean, part: Part): Part =>
  (rule, from) => {
    const body = newState(rule)
    link(from, body)
    const back = newState(rule)
    const to = newState(rule)
    link(part(rule, body), back)
    back.decision = 'plusLoopBack'
    back.joint = true
    back.simple = simple
    link(back, body)
    link(back, to)
    return to
  }

function define(name: RuleName, part: Part): void {
  const start = newState(name)
  const end = newState(name)
  end.end = true
  starts.set(name, start)
  ends.set(name, end)
  link(part(name, start), end)
}

define('start', seq(ref('expr'), tok(T.EOF)))
define('expr', seq(ref('or'), opt(seq(tok(T.QUESTION), ref('or'), tok(T.COLON), ref('expr')))))
define('or', seq(ref('and'), star(true, seq(tok(T.OR), ref('and')))))
define('and', seq(ref('relation'), star(true, seq(tok(T.AND), ref('relation')))))
const RELATIONS = [T.EQUALS, T.NOT_EQUALS, T.IN, T.LESS, T.LESS_EQUALS, T.GREATER_EQUALS, T.GREATER] as const
define('relation', seq(ref('calc'), star(false, alt(false, [1, seq(tok(...RELATIONS), ref('relation', 2))]))))
define(
  'calc',
  seq(
    ref('unary'),
    star(
      false,
      alt(
        false,
        [2, seq(tok(T.STAR, T.SLASH, T.PERCENT), ref('calc', 3))],
        [1, seq(tok(T.PLUS, T.MINUS), ref('calc', 2))],
      ),
    ),
  ),
)
define(
  'unary',
  alt(
    false,
    ref('member'),
    seq(plus(true, tok(T.EXCLAM)), ref('member')),
    seq(plus(false, tok(T.MINUS)), ref('member')),
  ),
)
const callArgs = seq(tok(T.LPAREN), opt(ref('exprList')), tok(T.RPAREN))
define(
  'member',
  seq(
    ref('primary'),
    star(
      false,
      alt(
        false,
        [3, seq(tok(T.DOT), opt(tok(T.QUESTION)), ref('escapeIdent'))],
        [2, seq(tok(T.DOT), tok(T.IDENTIFIER), callArgs)],
        [1, seq(tok(T.LBRACKET), opt(tok(T.QUESTION)), ref('expr'), tok(T.RBRACKET))],
      ),
    ),
  ),
)
const leadingDot = opt(tok(T.DOT))
define(
  'primary',
  alt(
    false,
    seq(leadingDot, tok(T.IDENTIFIER)),
    seq(leadingDot, tok(T.IDENTIFIER), callArgs),
    seq(tok(T.LPAREN), ref('expr'), tok(T.RPAREN)),
    seq(tok(T.LBRACKET), opt(ref('listInit')), opt(tok(T.COMMA)), tok(T.RBRACKET)),
    seq(tok(T.LBRACE), opt(ref('mapInits')), opt(tok(T.COMMA)), tok(T.RBRACE)),
    seq(
      leadingDot,
      tok(T.IDENTIFIER),
      star(true, seq(tok(T.DOT), tok(T.IDENTIFIER))),
      tok(T.LBRACE),
      opt(ref('fieldInits')),
      opt(tok(T.COMMA)),
      tok(T.RBRACE),
    ),
    ref('literal'),
  ),
)
define('exprList', seq(ref('expr'), star(true, seq(tok(T.COMMA), ref('expr')))))
define('listInit', seq(ref('optExpr'), star(false, seq(tok(T.COMMA), ref('optExpr')))))
const fieldInit = seq(ref('optField'), tok(T.COLON), ref('expr'))
define('fieldInits', seq(fieldInit, star(false, seq(tok(T.COMMA), fieldInit))))
define('optField', seq(opt(tok(T.QUESTION)), ref('escapeIdent')))
const mapInit = seq(ref('optExpr'), tok(T.COLON), ref('expr'))
define('mapInits', seq(mapInit, star(false, seq(tok(T.COMMA), mapInit))))
define('escapeIdent', alt(true, tok(T.IDENTIFIER), tok(T.ESC_IDENTIFIER)))
define('optExpr', seq(opt(tok(T.QUESTION)), ref('expr')))
const sign = opt(tok(T.MINUS))
define(
  'literal',
  alt(
    false,
    seq(sign, tok(T.INT)),
    tok(T.UINT),
    seq(sign, tok(T.FLOAT)),
    tok(T.STRING),
    tok(T.BYTES),
    tok(T.TRUE),
    tok(T.FALSE),
    tok(T.NULL),
  ),
)

// As ANTLR does, tokens and rules at the end of an alternative lead straight to where the alternatives meet.
// Alternatives that end in the same rule then return to the same state, so that looking ahead finds them to be the same
// from there on.
for (const { edges } of states) {
  for (const edge of edges) {
    if (edge.kind === 'free') continue
    const [only, ...others] = edge.to.edges
    if (others.length === 0 && only?.kind === 'free' && only.precedence === undefined && only.to.joint === true) {
      edge.to = only.to
    }
  }
}
