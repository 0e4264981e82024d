// The costs of an admission policy.
export {
  COST_BUDGET,
  EXPRESSION_COST_LIMIT,
  type ExpressionCost,
  explainPolicy,
  policySetting,
} from '../admission/policy-costs.js'
