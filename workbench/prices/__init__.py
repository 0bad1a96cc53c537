"""Prices of machine types and control planes, and what the pools of a stack cost.

All prices are list prices in USD. ``docs/prices.md`` lists what they leave out.
"""
