// The measurement of what quotas limit, for the controller that keeps their status.
export * from './plugins/resource-quota/usage.js'
