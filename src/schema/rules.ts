// CEL rules of a schema.
export * from './rules/compile-rules.js'
export * from './rules/cost-limits.js'
export * from './rules/evaluate-rules.js'
export * from './rules/rule-compiler.js'
export * from './rules/rule-metrics.js'
export * from './rules/rule-node.js'
