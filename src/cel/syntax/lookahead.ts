// Looking ahead in the grammar network: which tokens may come next, and which edge of a decision to take. Sets of
// configurations are kept by decision and context, so that the elements of a long list are decided once.
import { type State, startOf } from './grammar-network.js'
import { T, type Token, type TokenType } from './lexer.js'

/** Stands for the end of a rule in a set of tokens. */
export const EPSILON = -1

/** The tokens that may come next within the rule; EPSILON if the rule may end. */
export function nextTokens(from: State): ReadonlySet<number> {
  let known = tokensByState.get(from)
  if (known === undefined) {
    const found = new Set<number>()
    collectTokens(from, found, new Set(), [])
    known = found
    tokensByState.set(from, known)
  }
  return known
}

const tokensByState = new Map<State, ReadonlySet<number>>()

function collectTokens(state: State, found: Set<number>, seen: Set<string>, stack: readonly State[]): void {
  const key = `${state.id}:${stack.map(({ id }) => id).join(',')}`
  if (seen.has(key) || stack.length > 40) return
  seen.add(key)
  if (state.end) {
    const back = stack.at(-1)
    if (back) collectTokens(back, found, seen, stack.slice(0, -1))
    else found.add(EPSILON)
    return
  }
  for (const edge of state.edges) {
    if (edge.kind === 'token') for (const token of edge.tokens) found.add(token)
    else if (edge.kind === 'free') collectTokens(edge.to, found, seen, stack)
    else collectTokens(startOf(edge.rule), found, seen, [...stack, edge.to])
  }
}

/** A rule being read, and the state to go on from in the one that called it. */
export interface Context {
  readonly parent: Context | undefined
  readonly follow: State | undefined
  readonly precedence: number
  /** The states to return to from this rule and those around it. */
  readonly stack: Stack | undefined
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

/** A state to return to. Equal stacks are one object. */
interface Stack {
  readonly id: number
  readonly back: State
  readonly parent: Stack | undefined
  /** It was pushed in the rule of the decision, or below it. */
  readonly inner: boolean
  readonly precedence: number
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

/** The configurations of all ways after the same tokens. */
interface ConfigSet {
  readonly configs: readonly Config[]
  /** The way to take, if that is certain. */
  readonly decided: number | undefined
  /** By the token that comes next; undefined if it fits no way. */
  readonly next: Map<TokenType, ConfigSet | undefined>
}

export type Prediction = { readonly way: number } | { readonly failedAt: number }

/** Thrown for an expression that would take too long to look ahead in. */
export class LookaheadLimitExceeded extends Error {}

/** Several times what the deepest expressions take. Only expressions made for it get there. */
const MAX_STEPS = 1_000_000

/** Looks ahead in the tokens of one expression. */
export class Lookahead {
  /** States visited to find where tokens lead; known ones are not visited again. */
  steps = 0
  /** Tokens looked at. */
  lookups = 0
  private readonly stacks = new Map<number, Stack>()
  private readonly starts = new Map<number, ConfigSet>()

  constructor(private readonly tokens: readonly Token[]) {}

  /** The context of a rule that another one calls. */
  enter(parent: Context, follow: State | undefined, precedence: number): Context {
    const stack = follow && this.push(follow, parent.stack, false, parent.precedence)
    return { parent, follow, precedence, stack }
  }

  /** Which edge of a decision to take, looking as many tokens ahead as it takes. */
  predict(decision: State, context: Context, at: number): Prediction {
    let set = this.start(decision, context)
    for (let i = at; ; i++) {
      this.lookups++
      if (set.decided !== undefined) return { way: set.decided }
      const { type } = this.tokens[Math.min(i, this.tokens.length - 1)]!
      const next = this.advance(set, type)
      if (next === undefined) {
        // A way whose rule could end before the token that does not fit is taken; the error shows further on.
        const finished = set.configs.filter(({ left }) => left).map(({ way }) => way)
        return finished.length > 0 ? { way: Math.min(...finished) } : { failedAt: i }
      }
      if (type === T.EOF) return { way: Math.min(...next.configs.map(({ way }) => way)) }
      set = next
    }
  }

  private push(back: State, parent: Stack | undefined, inner: boolean, precedence: number): Stack {
    const key = stackId(parent) * 16_384 + (back.id << 4) + (precedence << 1) + (inner ? 1 : 0)
    let stack = this.stacks.get(key)
    if (stack === undefined) {
      stack = { id: this.stacks.size + 1, back, parent, inner, precedence }
      this.stacks.set(key, stack)
    }
    return stack
  }

  private start(decision: State, { stack, precedence }: Context): ConfigSet {
    const key = stackId(stack) * 8192 + (decision.id << 3) + precedence
    let set = this.starts.get(key)
    if (set === undefined) {
      const configs: Config[] = []
      const seen = new Set<number>()
      for (const [way, edge] of decision.edges.entries()) {
        if (edge.kind !== 'free' || (edge.precedence !== undefined && edge.precedence < precedence)) continue
        this.close(edge.to, way, stack, false, precedence, configs, seen)
      }
      set = configSet(configs)
      this.starts.set(key, set)
    }
    return set
  }

  private advance(set: ConfigSet, type: TokenType): ConfigSet | undefined {
    if (set.next.has(type)) return set.next.get(type)
    const configs: Config[] = []
    const seen = new Set<number>()
    for (const { state, way, stack, left, precedence } of set.configs) {
      for (const edge of state.edges) {
        if (edge.kind === 'token' && edge.tokens.includes(type)) {
          this.close(edge.to, way, stack, left, precedence, configs, seen)
        }
      }
    }
    const next = configs.length === 0 ? undefined : configSet(configs)
    set.next.set(type, next)
    return next
  }

  /** All states from which a token can be read, with what is to be returned to. */
  private close(
    state: State,
    way: number,
    stack: Stack | undefined,
    left: boolean,
    precedence: number,
    found: Config[],
    seen: Set<number>,
  ): void {
    // 10 bits for the state, 3 for the way, 2 for the precedence, 1 for having left.
    const key = stackId(stack) * 65_536 + (state.id << 6) + (way << 3) + (precedence << 1) + (left ? 1 : 0)
    if (seen.has(key)) return
    seen.add(key)
    if (++this.steps > MAX_STEPS) throw new LookaheadLimitExceeded()
    if (state.end) {
      if (stack) {
        this.close(stack.back, way, stack.parent, left || !stack.inner, stack.precedence, found, seen)
      } else found.push({ state, way, stack, left: true, precedence })
      return
    }
    let reads = false
    for (const edge of state.edges) {
      if (edge.kind === 'token') reads = true
      else if (edge.kind === 'free') {
        if (edge.precedence === undefined || edge.precedence >= precedence) {
          this.close(edge.to, way, stack, left, precedence, found, seen)
        }
      } else {
        const inner = this.push(edge.to, stack, !left, precedence)
        this.close(startOf(edge.rule), way, inner, left, edge.precedence, found, seen)
      }
    }
    if (reads) found.push({ state, way, stack, left, precedence })
  }
}

const stackId = (stack: Stack | undefined): number => stack?.id ?? 0

const configSet = (configs: readonly Config[]): ConfigSet => ({ configs, decided: decide(configs), next: new Map() })

/** The one way that is left, or the first of ways that no token can distinguish any more. */
function decide(configs: readonly Config[]): number | undefined {
  const all = new Set(configs.map(({ way }) => way))
  if (all.size === 1) return configs[0]!.way
  const byState = new Map<number, Set<number>>()
  const byPosition = new Map<number, number>()
  for (const { state, stack, way } of configs) {
    const ways = byState.get(state.id)
    if (ways) ways.add(way)
    else byState.set(state.id, new Set([way]))
    const position = stackId(stack) * 1024 + state.id
    byPosition.set(position, Math.min(byPosition.get(position) ?? way, way))
  }
  // While a state belongs to one way alone, more tokens may still decide.
  if ([...byState.values()].some(({ size }) => size === 1)) return undefined
  const least = new Set(byPosition.values())
  return least.size === 1 ? [...least][0] : undefined
}
