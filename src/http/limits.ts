// In-flight limits and request timeout.
export * from './filters/limits.js'
