// The grammar as a network of states, for reading expressions that have errors in them: what may come next in a state,
// and which way to go from it. Only erroneous expressions come here, so that it is written to be plain, not fast.
import { T, type Token, type TokenType } from './lexer.js'

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
}

export type Edge =
  | { readonly kind: 'free'; readonly to: State; readonly precedence?: number }
  | { readonly kind: 'token'; readonly to: State; readonly tokens: readonly TokenType[] }
  | { readonly kind: 'rule'; readonly to: State; readonly rule: RuleName; readonly precedence: number }

/** A rule being read, and the state to go on from in the one that called it. */
export interface Context {
  readonly parent: Context | undefined
  readonly follow: State | undefined
  readonly precedence: number
}

/** Stands for the end of a rule in a set of tokens. */
export const EPSILON = -1

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

// ---- looking ahead

/** The tokens that may come next within the rule; EPSILON if the rule may end. */
export function nextTokens(from: State): ReadonlySet<number> {
  let known = lookups.get(from)
  if (known === undefined) {
    const found = new Set<number>()
    look(from, found, new Set(), [])
    known = found
    lookups.set(from, known)
  }
  return known
}

const lookups = new Map<State, ReadonlySet<number>>()

function look(state: State, found: Set<number>, seen: Set<string>, stack: readonly State[]): void {
  const key = `${state.id}:${stack.map(({ id }) => id).join(',')}`
  if (seen.has(key) || stack.length > 40) return
  seen.add(key)
  if (state.end) {
    const back = stack.at(-1)
    if (back) look(back, found, seen, stack.slice(0, -1))
    else found.add(EPSILON)
    return
  }
  for (const edge of state.edges) {
    if (edge.kind === 'token') for (const token of edge.tokens) found.add(token)
    else if (edge.kind === 'free') look(edge.to, found, seen, stack)
    else look(startOf(edge.rule), found, seen, [...stack, edge.to])
  }
}

/** The tokens that may come next, through the ends of all rules under way. */
export function expectedTokens(from: State, context: Context): ReadonlySet<number> {
  const expected = new Set<number>()
  let following = nextTokens(from)
  for (let at: Context | undefined = context; ; at = at.parent) {
    for (const token of following) if (token !== EPSILON) expected.add(token)
    if (!following.has(EPSILON) || !at) return expected
    if (!at.follow) return expected.add(T.EOF)
    following = nextTokens(at.follow)
  }
}

interface Config {
  readonly state: State
  readonly way: number
  readonly stack: Stack | undefined
  /** It has left the rule in which the decision stands. */
  readonly left: boolean
  /** Of the rule that it is in. */
  readonly precedence: number
}

interface Stack {
  readonly back: State
  readonly parent: Stack | undefined
  readonly key: string
  readonly inner: boolean
  readonly precedence: number
}

const push = (back: State, parent: Stack | undefined, inner: boolean, precedence: number): Stack => ({
  back,
  parent,
  inner,
  precedence,
  key: `${back.id}/${precedence},${parent?.key ?? ''}`,
})

export type Prediction = { readonly way: number } | { readonly failedAt: number }

/** Which edge of a decision to take, looking as many tokens ahead as it takes. */
export function predict(decision: State, context: Context, tokens: readonly Token[], at: number): Prediction {
  let outer: Stack | undefined
  const contexts: Context[] = []
  for (let c: Context | undefined = context; c?.follow; c = c.parent) contexts.push(c)
  for (const c of contexts.toReversed()) outer = push(c.follow!, outer, false, c.parent?.precedence ?? 0)

  let configs: Config[] = []
  const seen = new Set<string>()
  for (const [way, edge] of decision.edges.entries()) {
    if (edge.kind !== 'free' || (edge.precedence !== undefined && edge.precedence < context.precedence)) continue
    close({ state: edge.to, way, stack: outer, left: false, precedence: context.precedence }, configs, seen)
  }
  for (let i = at; ; i++) {
    const settled = settle(configs)
    if (settled !== undefined) return { way: settled }
    const token = tokens[Math.min(i, tokens.length - 1)]!
    const next: Config[] = []
    const reached = new Set<string>()
    for (const config of configs) {
      for (const edge of config.state.edges) {
        if (edge.kind === 'token' && edge.tokens.includes(token.type)) {
          close({ ...config, state: edge.to }, next, reached)
        }
      }
    }
    if (next.length === 0) {
      // A way whose rule could end before the token that does not fit is taken; the error shows further on.
      const finished = configs.filter(({ left }) => left).map(({ way }) => way)
      return finished.length > 0 ? { way: Math.min(...finished) } : { failedAt: i }
    }
    if (token.type === T.EOF) return { way: Math.min(...next.map(({ way }) => way)) }
    configs = next
  }
}

/** The one way that is left, or the first of ways that cannot be told apart any more. */
function settle(configs: readonly Config[]): number | undefined {
  const all = new Set(configs.map(({ way }) => way))
  if (all.size === 1) return [...all][0]
  const byState = new Map<number, Set<number>>()
  const byPlace = new Map<string, number>()
  for (const { state, stack, way } of configs) {
    const ways = byState.get(state.id)
    if (ways) ways.add(way)
    else byState.set(state.id, new Set([way]))
    const place = `${state.id}|${stack?.key ?? ''}`
    byPlace.set(place, Math.min(byPlace.get(place) ?? way, way))
  }
  // While a state belongs to one way alone, more tokens may still tell.
  if ([...byState.values()].some(({ size }) => size === 1)) return undefined
  const least = new Set(byPlace.values())
  return least.size === 1 ? [...least][0] : undefined
}

/** All states from which a token can be read, with what was to be returned to on the way. */
function close(config: Config, found: Config[], seen: Set<string>): void {
  const { state, way, stack, left, precedence } = config
  const key = `${state.id}|${way}|${left}|${stack?.key ?? ''}|${precedence}`
  if (seen.has(key)) return
  seen.add(key)
  if (state.end) {
    if (stack) {
      close(
        { state: stack.back, way, stack: stack.parent, left: left || !stack.inner, precedence: stack.precedence },
        found,
        seen,
      )
    } else found.push({ ...config, left: true })
    return
  }
  let reads = false
  for (const edge of state.edges) {
    if (edge.kind === 'token') reads = true
    else if (edge.kind === 'free') {
      if (edge.precedence === undefined || edge.precedence >= precedence) {
        close({ ...config, state: edge.to }, found, seen)
      }
    } else {
      const inner = push(edge.to, stack, !left, precedence)
      close({ ...config, state: startOf(edge.rule), stack: inner, precedence: edge.precedence }, found, seen)
    }
  }
  if (reads) found.push(config)
}
