// The parse tree of an expression with syntax errors to syntax nodes, as far as it goes, to find the other errors in
// it.

import type { RuleName } from './grammar-network.js'
import { T, type Token } from './lexer.js'
import type { Expr } from './syntax-tree.js'
import type { TreeBuilder } from './tree-builder.js'

export interface ParseNode {
  readonly rule: RuleName
  /** Where the token stands at which the rule began. */
  readonly offset: number
  readonly children: (ParseNode | Token)[]
}

type Part = ParseNode | Token

export function buildTree(builder: TreeBuilder, root: ParseNode): void {
  visit(root)

  /** A part that is missing was reported before. */
  function visit(node: Part | undefined): Expr {
    if (node === undefined || !('rule' in node)) return builder.hole(-1)
    const { rule, children } = node
    const nodes = children.filter((part): part is ParseNode => 'rule' in part)
    const token = (type: number): Token | undefined =>
      children.find((part): part is Token => !('rule' in part) && part.type === type)
    switch (rule) {
      case 'start':
      case 'optExpr':
        return visit(nodes[0])
      case 'expr': {
        const question = token(T.QUESTION)
        if (!question) return visit(nodes[0])
        return builder.call(question.offset, '_?_:_', [visit(nodes[0]), visit(nodes[1]), visit(nodes[2])])
      }
      case 'or':
      case 'and':
      case 'relation':
      case 'calc': {
        const [first, ...rest] = nodes.map(visit)
        return rest.reduce((left, right) => builder.call(-1, '', [left, right]), first ?? builder.hole(-1))
      }
      case 'unary':
        return visit(nodes.at(-1))
      case 'member':
        return member(children)
      case 'primary':
        return primary(node, nodes, token)
      case 'literal': {
        const last = children.at(-1)
        if (last === undefined || 'rule' in last) return builder.hole(-1)
        return constant(last, children.length > 1, children[0] as Token)
      }
      default:
        for (const child of nodes) visit(child)
        return builder.hole(-1)
    }
  }

  function member(children: readonly Part[]): Expr {
    let operand = visit(children[0])
    for (let i = 1; i < children.length; i++) {
      const part = children[i]!
      if ('rule' in part) continue
      if (part.type === T.LBRACKET) {
        const index = ruleFrom(children, i)
        if (index) operand = builder.index(part.offset, operand, visit(index), isToken(children[i + 1], T.QUESTION))
      } else if (part.type === T.DOT) {
        const name = children[i + 1]
        const open = children[i + 2]
        if (isToken(name, T.IDENTIFIER) && isToken(open, T.LPAREN)) {
          const args = children[i + 3]
          operand = builder.memberCall(open.offset, operand, name.text, isList(args) ? list(args) : [])
        } else {
          const optional = isToken(name, T.QUESTION)
          const ident = optional ? open : name
          const field = ident && 'rule' in ident ? (ident.children[0] as Token | undefined) : undefined
          if (!field) {
            if (ident && 'rule' in ident) builder.error(ident.offset, NO_NAME)
            continue
          }
          const text = builder.field(field.offset, field.text, field.type === T.ESC_IDENTIFIER)
          if (text === undefined) operand = builder.hole(part.offset)
          else if (optional) operand = builder.optionalSelect(part.offset, operand, text, field.offset)
          else operand = builder.select(part.offset, operand, text)
        }
      }
    }
    return operand
  }

  function primary(node: ParseNode, nodes: readonly ParseNode[], token: (type: number) => Token | undefined): Expr {
    const [first] = node.children
    if (nodes[0]?.rule === 'literal' || nodes[0]?.rule === 'expr') return visit(nodes[0])
    const ident = token(T.IDENTIFIER)
    const open = token(T.LPAREN)
    const dot = first !== undefined && isToken(first, T.DOT)
    if (ident && open) {
      const args = nodes[0]
      return builder.globalCall(open.offset, ident.text, isList(args) ? list(args) : [], (first as Token).offset, dot)
    }
    for (const child of nodes) {
      const parts = child.children.filter(part => 'rule' in part)
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i]!
        if (part.rule === 'optField' && parts[i + 1]?.rule === 'expr' && !hasName(part)) {
          builder.error(part.offset, NO_NAME)
          // The value of a field without a name is not looked at.
          i++
        } else visit(part)
      }
    }
    if (ident && !token(T.LBRACE)) return builder.ident(ident.offset, ident.text, dot, (first as Token).offset)
    return builder.hole(-1)
  }

  function list(node: ParseNode): Expr[] {
    return node.children.filter(part => 'rule' in part).map(part => visit(part))
  }

  function constant(token: Token, negative: boolean, start: Token): Expr {
    const { type, text } = token
    if (type === T.INT) return builder.readLiteral(start.offset, 'int', text, negative)
    if (type === T.FLOAT) return builder.readLiteral(start.offset, 'double', text, negative)
    if (type === T.UINT) return builder.readLiteral(start.offset, 'uint', text)
    if (type === T.STRING) return builder.readLiteral(start.offset, 'string', text)
    if (type === T.BYTES) return builder.readLiteral(start.offset, 'bytes', text)
    return builder.literal(start.offset, type === T.NULL ? null : type === T.TRUE)
  }
}

const hasName = ({ children }: ParseNode): boolean => children.some(part => 'rule' in part && part.children.length > 0)

/** cel-go's words for a name that is missing where the grammar requires one. */
const NO_NAME = 'unsupported ident kind'

/** The first rule at a position or behind it. */
function ruleFrom(children: readonly Part[], from: number): ParseNode | undefined {
  for (let i = from; i < children.length; i++) {
    const part = children[i]!
    if ('rule' in part) return part
  }
  return undefined
}

const isToken = (part: Part | undefined, type: number): part is Token =>
  part !== undefined && !('rule' in part) && part.type === type

const isList = (part: Part | undefined): part is ParseNode =>
  part !== undefined && 'rule' in part && part.rule === 'exprList'
