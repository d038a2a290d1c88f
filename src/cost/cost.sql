/* src/cost/cost.sql */
