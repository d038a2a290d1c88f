/* src/advise/advise.sql */
